//! Models that know at the injection when a message is delivered.

use units::Time;

use crate::{Network, Never, Outlet, Parcel, Uncontended};

/// A network without devices, whose interfaces need not talk to each other: all that it takes to be
/// a [`Network`]. The methods are those of the same names there.
pub trait Direct: Sync + Sized {
    /// See [`Network::Interface`].
    type Interface: Send;

    /// See [`Network::interface`].
    fn interface(&self, host: u32) -> Self::Interface;

    /// See [`Network::lookahead`].
    fn lookahead(&self) -> Time;

    /// See [`Network::uncontended`].
    fn uncontended(&self, parcel: Parcel) -> Uncontended;

    /// When a message that enters at `at` is delivered: at `at` plus the lookahead or later;
    /// [`Time::MAX`] past the range of time.
    fn inject(&self, interface: &mut Self::Interface, at: Time, parcel: Parcel) -> Time;
}

impl<D: Direct> Network for D {
    type Interface = D::Interface;
    type Device = ();
    type Signal = Never;
    type Record = Never;

    const DIRECT: bool = true;

    fn hosts(&self) -> Option<u32> {
        None
    }

    fn devices(&self) -> u32 {
        0
    }

    fn interface(&self, host: u32) -> Self::Interface {
        Direct::interface(self, host)
    }

    fn device(&self, _: u32) {}

    #[inline]
    fn lookahead(&self) -> Time {
        Direct::lookahead(self)
    }

    fn uncontended(&self, parcel: Parcel) -> Uncontended {
        Direct::uncontended(self, parcel)
    }

    #[inline]
    fn inject(
        &self,
        interface: &mut Self::Interface,
        at: Time,
        parcel: Parcel,
        _: u64,
        _: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        Some(Direct::inject(self, interface, at, parcel))
    }

    fn hear(&self, _: &mut Self::Interface, _: Time, signal: Never, _: &mut impl Outlet<Self>) {
        match signal {}
    }

    fn next(&self, _: &Self::Interface) -> Time {
        Time::MAX
    }

    fn run(&self, _: &mut Self::Interface, _: Time, _: &mut impl Outlet<Self>) {}

    fn run_device(
        &self,
        (): &mut (),
        _: Time,
        _: impl Iterator<Item = (Time, Never)>,
        _: &mut impl Outlet<Self>,
    ) -> Time {
        Time::MAX
    }
}
