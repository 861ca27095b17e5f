//! Answers that a wrapper leaves to the network inside.

/// Writes the methods of [`Network`](crate::Network) of these names, which tell facts about a
/// network at rest, so that they answer as the network inside does: `forward!(self, inside: hosts
/// devices)`. `inside` is a macro that evaluates an expression for that network, as in
/// `inside!(self, network => network.hosts())`. A wrapper writes the other methods itself.
#[macro_export]
macro_rules! forward {
    ($self:ident, $inside:ident: $($method:ident)+) => {
        $($crate::forward!(@ $method $self $inside);)+
    };
    (@ hosts $self:ident $inside:ident) => {
        fn hosts(&$self) -> Option<u32> {
            $inside!($self, network => network.hosts())
        }
    };
    (@ devices $self:ident $inside:ident) => {
        fn devices(&$self) -> u32 {
            $inside!($self, network => network.devices())
        }
    };
    (@ weight $self:ident $inside:ident) => {
        fn weight(&$self, device: units::DeviceId) -> u32 {
            $inside!($self, network => network.weight(device))
        }
    };
    (@ order $self:ident $inside:ident) => {
        fn order(&$self) -> Option<Vec<units::DeviceId>> {
            $inside!($self, network => network.order())
        }
    };
    (@ lookahead $self:ident $inside:ident) => {
        fn lookahead(&$self) -> units::Time {
            $inside!($self, network => network.lookahead())
        }
    };
    (@ lookahead_between $self:ident $inside:ident) => {
        fn lookahead_between(&$self, of: &dyn Fn(units::DeviceId) -> usize) -> units::Time {
            $inside!($self, network => network.lookahead_between(of))
        }
    };
    (@ waits_for_answers $self:ident $inside:ident) => {
        fn waits_for_answers(&$self) -> bool {
            $inside!($self, network => network.waits_for_answers())
        }
    };
    (@ uncontended $self:ident $inside:ident) => {
        fn uncontended(&$self, transfer: $crate::Transfer) -> $crate::Uncontended {
            $inside!($self, network => network.uncontended(transfer))
        }
    };
}

/// Evaluates an expression for the network in the field `inside` of a wrapper.
macro_rules! inside {
    ($wrapper:expr, $network:ident => $value:expr) => {{
        let $network = &$wrapper.inside;
        $value
    }};
}

pub(crate) use inside;
