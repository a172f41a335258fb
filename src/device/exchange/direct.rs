//! Exchange between devices by the driver's own messages, which graphs can record.

use std::sync::Arc;

use super::{Exchange, Message, Parcels};
use crate::device::branch::Branch;
use crate::device::driver::{Driver, Handle, Shipment, failed};
use crate::device::gpu::Gpu;
use crate::error::{Error, Result};
use crate::ranks::{Ranks, any};

/// An exchange that the device makes in the order of its kernels, without the host.
#[derive(Debug)]
pub struct DirectExchange {
    driver: Arc<dyn Driver>,
    group: Handle,
    carrier: String,
}

impl DirectExchange {
    /// A group of the devices of all ranks, each of which has one of its own. All ranks call it at once.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] on all ranks when one of them has no library for it, or when the devices do not find each other.
    pub fn between(gpu: &Gpu, ranks: &Arc<dyn Ranks>) -> Result<Self> {
        let driver = gpu.driver();
        let carrier = driver.group_carrier().map_err(failed("send from device to device"));
        if any(&**ranks, carrier.is_err()) {
            let missing = "another rank cannot send from device to device".to_owned();
            return Err(carrier.err().unwrap_or(Error::Gpu(missing)));
        }
        let token = if ranks.rank() == 0 { driver.group_token() } else { Ok(Vec::new()) };
        let token = token.map_err(failed("begin a group of devices"));
        if any(&**ranks, token.is_err()) {
            let missing = "the first rank cannot begin a group of devices".to_owned();
            return Err(token.err().unwrap_or(Error::Gpu(missing)));
        }
        let token = from_first(&**ranks, token?);
        let place = [ranks.rank(), ranks.size()];
        let group = driver.join(&token, place).map_err(failed("join a group of devices"))?;
        Ok(Self { driver: Arc::clone(driver), group, carrier: carrier? })
    }
}

/// The bytes of the first rank on all ranks.
fn from_first(ranks: &dyn Ranks, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut length = [bytes.len() as i64];
    ranks.sum(&mut length);
    if ranks.rank() == 0 {
        let sent: Vec<_> = (1..ranks.size()).map(|rank| (rank, &bytes[..])).collect();
        ranks.exchange(&sent, &mut []);
    } else {
        bytes.resize(length[0] as usize, 0);
        ranks.exchange(&[], &mut [(0, &mut bytes[..])]);
    }
    bytes
}

impl Exchange for DirectExchange {
    fn about(&self) -> String {
        self.carrier.clone()
    }

    fn is_recordable(&self) -> bool {
        true
    }

    fn exchange(&self, branch: Branch<'_>, parcels: &Parcels) -> Result<()> {
        let shipments = |messages: &[Message], first: u64| -> Vec<Shipment> {
            let shipment = |Message { peer, bytes }: &Message| Shipment {
                peer: *peer,
                address: first + bytes.start as u64,
                bytes: bytes.len(),
            };
            messages.iter().map(shipment).collect()
        };
        let sent = shipments(parcels.sent(), parcels.outgoing().pointer().address());
        let received = shipments(parcels.received(), parcels.incoming().pointer().address());
        let stream = branch.stream_of(&parcels.gpu).handle();
        // SAFETY: the messages lie inside the parcels' memory, which is freed only when the device is done; whoever records
        // the exchange keeps the parcels as long as the graph.
        unsafe { self.driver.exchange(stream, self.group, [&sent, &received]) }
            .map_err(failed("exchange messages between devices"))
    }
}

impl Drop for DirectExchange {
    fn drop(&mut self) {
        self.driver.leave(self.group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Alone;

    #[test]
    fn who_is_alone_has_the_token_of_the_first() {
        assert_eq!(from_first(&Alone, vec![3, 4]), [3, 4]);
    }
}
