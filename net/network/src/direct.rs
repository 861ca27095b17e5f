//! Models that know at the injection when a message is delivered.

use units::{DeviceId, HostId, MessageId, Time};

use crate::{Network, Never, Outlet, Transfer, Uncontended};

/// A network without devices, whose interfaces exchange no signals. Every such model is a
/// [`Network`]; the methods are those of the same names there, under the same contract.
pub trait Direct: Sync + Sized {
    /// See [`Network::Interface`].
    type Interface: Send;

    /// See [`Network::interface`].
    fn interface(&self, host: HostId) -> Self::Interface;

    /// See [`Network::lookahead`].
    fn lookahead(&self) -> Time;

    /// See [`Network::uncontended`].
    fn uncontended(&self, transfer: Transfer) -> Uncontended;

    /// Returns when a message that enters at `at` is delivered: at `at` plus the lookahead or
    /// later; [`Time::MAX`] past the range of time.
    fn inject(&self, interface: &mut Self::Interface, at: Time, transfer: Transfer) -> Time;
}

impl<D: Direct> Network for D {
    type Interface = D::Interface;
    type Device = ();
    type Signal = Never;
    type Detail = Never;

    const DIRECT: bool = true;

    fn hosts(&self) -> Option<u32> {
        None
    }

    fn devices(&self) -> u32 {
        0
    }

    fn interface(&self, host: HostId) -> Self::Interface {
        Direct::interface(self, host)
    }

    fn device(&self, _: DeviceId) {}

    #[inline]
    fn lookahead(&self) -> Time {
        Direct::lookahead(self)
    }

    #[inline]
    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        Direct::uncontended(self, transfer)
    }

    #[inline(always)]
    fn inject(
        &self,
        interface: &mut Self::Interface,
        at: Time,
        transfer: Transfer,
        _: MessageId,
        _: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        Some(Direct::inject(self, interface, at, transfer))
    }

    fn hear(&self, _: &mut Self::Interface, _: Time, signal: Never, _: &mut impl Outlet<Self>) {
        match signal {}
    }
}
