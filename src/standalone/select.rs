//! Selection of the best device from those that were inspected.

use super::{DeviceInfo, DeviceReport, Missing, Result, StandaloneError};
use ash::vk;

/// The devices without anything missing, best first.
///
/// A device that could not be inspected is reported like one that lacks something, so that a
/// failing driver does not hide the devices of the others.
#[doc(hidden)]
pub fn select<T>(
    asked: Option<&str>,
    inspected: impl IntoIterator<Item = (DeviceInfo, Result<(T, Vec<Missing>)>)>,
) -> Result<Vec<T>> {
    let mut fit = Vec::new();
    let mut devices = Vec::new();
    for (info, result) in inspected {
        let (found, missing) = match result {
            _ if asked.is_some_and(|asked| !is_it(asked, &info)) => {
                (None, vec![Missing::NotAskedFor])
            }
            Ok((found, missing)) => (Some(found), missing),
            Err(error) => {
                log::warn!("cannot inspect {info}: {error}");
                (None, vec![Missing::Failed(error.to_string())])
            }
        };
        match found {
            Some(found) if missing.is_empty() => fit.push((info, found)),
            _ => devices.push(DeviceReport { info, missing }),
        }
    }
    if fit.is_empty() {
        let asked = asked.map(str::to_owned);
        return Err(StandaloneError::NoDevice { asked, devices });
    }
    fit.sort_by_key(|(info, _)| (rank(info.kind), info.index));
    Ok(fit.into_iter().map(|(_, found)| found).collect())
}

fn is_it(asked: &str, info: &DeviceInfo) -> bool {
    match asked.trim().parse::<usize>() {
        Ok(index) => index == info.index,
        Err(_) => info
            .name
            .to_lowercase()
            .contains(&asked.trim().to_lowercase()),
    }
}

fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    }
}
