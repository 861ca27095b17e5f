//! The table `[network]`: what lies between the hosts.

use super::*;

table! {
    MODEL: Word(words::MODEL) = "network.model",
        Value("loggops"), flag("network", "MODEL"), scope::MODEL,
        "The model of the network.";
    TOPOLOGY: Topology = "network.topology",
        Unset("required by models with switches"), flag("topology", "TOPOLOGY"), scope::TOPOLOGY,
        "The topology: `KIND:KEY=VALUE,…` as `heddle topology list` lists them, or a file.";
    ROUTING: Routing = "network.routing",
        Unset("the usual one of the topology"), flag("routing", "NAME"), scope::LINKS,
        "How routes are made: `min-hop`, `up-down`, `d-mod-k`, `s-mod-k`, `random-up`, \
         `dimension-order`, `direction-order`, `minimal`, `valiant`, `o1turn`, `romm`, \
         `destination-tag` or, for routers that choose, `adaptive`, `adaptive-up`, `dal`, \
         `dimension-adaptive`, `ugal-l`, `ugal-g` or `par`. \
         `NAME:lanes=1` keeps to one lane; the chapter on topologies describes \
         `dimension-order:dateline=whole`, `dimension-order:bubble`, `adaptive:bubble=global`, \
         `valiant:halves=dimension-order` and `ugal-l:factor=2,offset=0`.";
    TABLES: Path = "network.tables", Unset("routes are computed"), None, scope::LINKS,
        "Forwarding tables instead: FDB vectors, or a dump of linear forwarding tables.";
    FAIL: Name = "network.fail", Unset("nothing fails"), flag("fail", "LIST"), scope::LINKS,
        "Switches and links out of service, separated by commas: `SWITCH`, `DEVICE:PORT`, a number \
         such as `links=3` and `switches=1`, or a share such as `links=5%`.";
    PRESET: Word(words::PRESETS) = "network.preset",
        Value("infiniband-edr"), flag("preset", "NAME"), scope::LINKS,
        "A set of parameters, of the model whose name it begins with; for the model `packet` by \
         default `packet-default`. The model `flow` takes rates and delays from any.";
    LINK: Name = "network.link", Unset("as in the preset"), None, scope::LINKS,
        "Width and speed of links that do not name their own: `4xEDR`.";
    CABLE: Time = "network.cable", Unset("as in the preset"), None, scope::LINKS,
        "Time of flight of links that do not name their own.";
    LATENCY_IN: Time = "network.latency-in", Unset("as in the preset"), None, scope::SWITCH_TIMES,
        "Time in a switch before arbitration.";
    LATENCY_OUT: Time = "network.latency-out", Unset("as in the preset"), None, scope::SWITCH_TIMES,
        "Time in a switch after it.";
    CREDIT_DELAY: Time = "network.credit-delay", Unset("as in the preset"), None, scope::PACKETS,
        "Time that a credit takes besides that of flight.";
    UPDATE: Time = "network.update", Unset("as in the preset"), None, scope::FABRIC,
        "Time from one flow-control packet of a port to the next; 0 if they take no time on \
         links.";
    PADDED: Switch = "network.padded", Unset("as in the preset"), None, scope::FABRIC,
        "Whether a short last flit takes the time of a full one.";
    MAX_BEING_SENT: Count(1, U16) = "network.max-being-sent",
        Unset("as in the preset"), None, scope::FABRIC,
        "Packets that may leave an input port at a time.";
    BUFFER: Count(1, U32) = "network.buffer", Unset("as in the preset"), None, scope::PACKETS,
        "Input buffer of a switch port per lane, in flits (of 64 bytes in InfiniBand); for the \
         model `packet` the buffer behind any link per virtual channel.";
    HOST_BUFFER: Count(1, U32) = "network.host-buffer",
        Unset("as in the preset"), None, scope::FABRIC,
        "Input buffer of a host per lane, in flits.";
    OUTPUT_BUFFER: Count(1, U32) = "network.output-buffer",
        Unset("as in the preset"), None, scope::PACKETS,
        "Output buffer of a switch port, in flits.";
    CROSSBAR: Time = "network.crossbar", Unset("as in the preset"), None, scope::FABRIC,
        "Time of one flit through a switch's crossbar; 0 if it keeps up with its links.";
    MTU: Bytes = "network.mtu", Unset("as in the preset"), None, scope::PACKETS,
        "Payload of a full packet.";
    HEADER: Bytes = "network.header", Unset("as in the preset"), None, scope::PACKETS,
        "Headers and checksums of a packet.";
    GENERATOR: Time = "network.generator", Unset("as in the preset"), None, scope::FABRIC,
        "Time of one flit out of a host's memory.";
    SINK: Time = "network.sink", Unset("as in the preset"), None, scope::FABRIC,
        "Time of one flit into a host's memory.";
    PAUSE_PERIOD: Time = "network.pause-period", Unset("as in the preset"), None, scope::FABRIC,
        "A host's sink pauses once in each period of this length.";
    PAUSE: Time = "network.pause", Unset("as in the preset"), None, scope::FABRIC,
        "Length of a pause; 0 for none.";
    PAUSE_PHASE: Time = "network.pause-phase", Unset("as in the preset"), None, scope::FABRIC,
        "Start of the first pause.";
    PAUSE_RESUME: Time = "network.pause-resume", Unset("as in the preset"), None, scope::FABRIC,
        "From the end of a pause to the poll that follows it.";
    PAUSE_SPREAD: Word(words::SPREAD) = "network.pause-spread",
        Unset("as in the preset"), None, scope::FABRIC,
        "How long pauses are.";
    ACKNOWLEDGE: Switch = "network.acknowledge", Unset("as in the preset"), None, scope::FABRIC,
        "Whether messages are acknowledged.";
    LOSS: Probability = "network.loss", Value("0"), None, scope::FABRIC,
        "Probability that a packet is damaged on its way, whatever its size and route; it is sent \
         again.";
    BIT_ERROR_RATE: Probability = "network.bit-error-rate", Value("0"), None, scope::FABRIC,
        "Probability that a bit is damaged on a link, besides `loss`.";
    ACK_TIMEOUT: Time = "network.ack-timeout", Value("67108864 ns"), None, scope::FABRIC,
        "Time for which a host waits for an acknowledgement before it sends again, where packets \
         get lost; the standard has 4.096 us times a power of 2, here 2^14.";
    RETRY_COUNT: Count(0, 7) = "network.retry-count", Value("7"), None, scope::FABRIC,
        "The number of times that a host sends again without progress before it gives up.";
    LEVEL: Count(0, 14) = "network.level", Value("0"), None, scope::FABRIC,
        "Service level of the program's messages.";
    LEVELS: Name = "network.levels", Unset("all are of `level`"), None, scope::FABRIC,
        "Service levels of the hosts in turn, in the order of their ranks: `0,1`.";
    CHOICE: Word(words::CHOICE) = "network.choice",
        Unset("`message` for traffic, `pair` otherwise"), None, scope::PACKETS,
        "When a source chooses a route, where the routing leaves a choice (`valiant`, \
         `random-up`).";
    FLIT: Bytes = "network.flit", Unset("as in the preset"), None, scope::ROUTERS,
        "Size of a flit, the unit of buffers and credits.";
    CHANNELS: Count(1, 64) = "network.channels",
        Unset("as in the preset, or as many as the routing has lanes"), None, scope::ROUTERS,
        "Virtual channels of a link. Each lane of the routing has an equal share of them.";
    SPEED_UP: Count(1, 64) = "network.speed-up", Unset("as in the preset"), None, scope::ROUTERS,
        "Internal speed-up of routers: their cycles in the time of a flit on a link.";
    ROUTE_DELAY: Name = "network.route-delay", Unset("as in the preset"), None, scope::ROUTERS,
        "Time of route computation, a time or `2 cycles`.";
    VC_ALLOCATION_DELAY: Name = "network.vc-allocation-delay",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Time of virtual-channel allocation, likewise; a cycle at least.";
    SWITCH_ALLOCATION_DELAY: Name = "network.switch-allocation-delay",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Time of switch allocation, likewise; a cycle at least.";
    TRAVERSAL_DELAY: Name = "network.traversal-delay",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Time of switch traversal, likewise.";
    INJECTION_DELAY: Name = "network.injection-delay",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Time of a message in its host's interface before its first flit may leave, likewise.";
    MEMORY_RATE: TimePerByte = "network.memory-rate",
        Unset("as in the preset, or no limit"), None, scope::ROUTERS,
        "Rate of a host's memory. Flits pass memory, DMA engine and channel adapter one after the \
         other, on their way out and in; the slowest sets the pace of the host's links.";
    DMA_RATE: TimePerByte = "network.dma-rate",
        Unset("as in the preset, or no limit"), None, scope::ROUTERS,
        "Rate of a host's DMA engine.";
    HCA_RATE: TimePerByte = "network.hca-rate",
        Unset("as in the preset, or no limit"), None, scope::ROUTERS,
        "Rate of a host's channel adapter.";
    HOST_LINK: Name = "network.host-link", Unset("as network.link"), None, scope::ROUTERS,
        "Rate of the links of hosts that do not name their own. A load of traffic is a part of it.";
    SWITCHING: Word(words::SWITCHING) = "network.switching",
        Unset("as in the preset"), None, scope::ROUTERS,
        "The condition under which a packet may take a virtual channel.";
    VC_ALLOCATOR: Word(words::ALLOCATORS) = "network.vc-allocator",
        Unset("as in the preset"), None, scope::ROUTERS,
        "The allocator of virtual channels.";
    SWITCH_ALLOCATOR: Word(words::ALLOCATORS) = "network.switch-allocator",
        Unset("as in the preset"), None, scope::ROUTERS,
        "The allocator of the switch.";
    ITERATIONS: Count(1, 64) = "network.iterations",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Rounds of an allocation in a cycle.";
    ARBITRATION: Word(words::ARBITRATION) = "network.arbitration",
        Unset("as in the preset"), None, scope::ROUTERS,
        "The arbiters in both allocators.";
    IPR: Probability = "network.ipr", Unset("as in the preset"), None, scope::ROUTERS,
        "In-transit priority: the probability with which, at the arbitration for a virtual \
         channel, packets from hosts compete only if no packet in transit does.";
    LBR: Count(0, U32) = "network.lbr", Unset("as in the preset"), None, scope::ROUTERS,
        "Local buffer restriction of adaptive routing: packets for which the local buffer of the \
         same ring and channel must have room before a packet from a host may take a channel \
         other than the escape; 0 for no restriction.";
    CONGESTED_AFTER: Time = "network.congested-after",
        Unset("`ipr` and `lbr` always apply"), None, scope::ROUTERS,
        "Time-out that arms `ipr` and `lbr`: they apply in a router only while a packet at the \
         head of one of its input channels has waited for an output channel for longer.";
    THRESHOLD: Probability = "network.threshold", Unset("no limit"), None, scope::ROUTERS,
        "Global threshold: the share of all buffers between routers beyond which, when it is full, \
         no packet of a host enters the network.";
    THRESHOLD_UPDATE: Time = "network.threshold-update",
        Unset("the longest way of a credit"), None, scope::ROUTERS,
        "Time between two words of a router about how full buffers are, which pass from router to \
         router: the age of what is known under `threshold`.";
    INJECTOR: Word(words::INJECTORS) = "network.injector",
        Unset("as in the preset"), None, scope::ROUTERS,
        "The channel of its host's link that a packet takes, or the one of several injection ports \
         that a message takes. Each has a queue of its own at the router.";
    INJECTION_PORTS: Count(1, 64) = "network.injection-ports",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Links side by side by which a host sends, for each of its links in the topology: \
         injectors. With two or more each has one queue at the router, whatever the channels, and \
         `injector` says which one a message takes.";
    EJECTION_PORTS: Count(1, 64) = "network.ejection-ports",
        Unset("as in the preset"), None, scope::ROUTERS,
        "Links side by side by which a host receives, for each of its links in the topology. With \
         two or more each takes one packet at a time, whatever the channels.";
    ORDERED: Switch = "network.ordered",
        Unset("`true` for programs, `false` for traffic"), None, scope::ROUTERS,
        "Whether messages of a pair of hosts are delivered in the order in which they enter.";
}

/// The table `[network.arbiter]`.
pub(crate) mod arbiter {
    use super::*;

    table! {
        HIGH: Name = "network.arbiter.high", Unset("as in the preset"), None, scope::FABRIC,
            "High table of the arbiters of virtual lanes: `LANE:WEIGHT,…` in turn, weights in \
             units of 64 bytes.";
        LOW: Name = "network.arbiter.low", Unset("as in the preset"), None, scope::FABRIC,
            "Low table, served when the high one has nothing to send or has used up its limit, \
             likewise.";
        HIGH_LIMIT: Count(0, 255) = "network.arbiter.high-limit",
            Unset("as in the preset"), None, scope::FABRIC,
            "What the high table may send before the low one gets a turn, in units of 4096 bytes: \
             0 for a packet, 255 for no limit.";
    }
}

/// The table `[network.congestion]`.
pub(crate) mod congestion {
    use super::*;

    table! {
        CONTROL: Word(words::CONGESTION) = "network.congestion.control",
            Value("preset"), None, scope::FABRIC,
            "Whether there is congestion control.";
        THRESHOLD: Count(0, 15) = "network.congestion.threshold",
            Unset("as in the preset"), None, scope::FABRIC,
            "Threshold of switch ports: 0 never marks, 15 marks at the lowest fill.";
        MARKING_RATE: Count(0, U16) = "network.congestion.marking-rate",
            Unset("as in the preset"), None, scope::FABRIC,
            "Packets that may be marked between two that are.";
        PACKET_SIZE: Count(0, 255) = "network.congestion.packet-size",
            Unset("as in the preset"), None, scope::FABRIC,
            "Smaller packets are not marked, in units of 64 bytes.";
        VICTIMS: Word(words::VICTIMS) = "network.congestion.victims",
            Unset("as in the preset"), None, scope::FABRIC,
            "Victim_Mask: ports that mark even when they are short of credits.";
        SCOPE: Word(words::SCOPE) = "network.congestion.scope",
            Unset("as in the preset"), None, scope::FABRIC,
            "What has an index of its own.";
        INCREASE: Count(1, U16) = "network.congestion.increase",
            Unset("as in the preset"), None, scope::FABRIC,
            "CCTI_Increase: by how much a notification raises the index.";
        LIMIT: Count(1, U16) = "network.congestion.limit",
            Unset("as in the preset"), None, scope::FABRIC,
            "CCTI_Limit: the highest index.";
        MIN: Count(0, U16) = "network.congestion.min",
            Unset("as in the preset"), None, scope::FABRIC,
            "CCTI_Min: the lowest index.";
        TRIGGER: Count(0, U16) = "network.congestion.trigger",
            Unset("as in the preset"), None, scope::FABRIC,
            "Trigger_Threshold: an index that reaches it is recorded.";
        TABLE: Name = "network.congestion.table", Unset("as in the preset"), None, scope::FABRIC,
            "The table from index 0 on: `SHIFT:MULTIPLIER,…`, a delay of MULTIPLIER / 2^SHIFT \
             times that of the packet.";
        NOTIFICATIONS: Count(0, U16) = "network.congestion.notifications",
            Unset("as in the preset"), None, scope::FABRIC,
            "Notifications that may wait at a host; further ones are not sent.";
        TIMER: Time = "network.congestion.timer", Unset("as in the preset"), None, scope::FABRIC,
            "CCTI_Timer: how long it takes until the index falls by one.";
    }
}
