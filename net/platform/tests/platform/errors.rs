//! Tests of messages about mistakes in a platform, with their places.

use platform::Platform;

/// The mistakes of a platform whose text begins in line 1.
fn faults(text: &str) -> Vec<String> {
    let faults = Platform::read(text).err().map(|faults| faults.0).unwrap_or_default();
    let text = |fault: &topology::Fault| {
        let help = fault.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}:{}: {}{help}", fault.line, fault.column, fault.message)
    };
    faults.iter().map(text).collect()
}

/// The mistakes of the contents of a zone with Full routing; they begin in line 2.
fn in_zone(contents: &str) -> Vec<String> {
    faults(&format!(
        "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n{contents}\n</zone></platform>"
    ))
}

const TWO: &str = r#"<host id="alpha" speed="1Gf"/><host id="beta" speed="1Gf"/>"#;

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let found = in_zone(
        r#"<host id="alpha" speed="1Gf"/>
<host id="alpha" speed="fast"/>
<link id="wire" bandwidth="-5MBps" latency="1us"/>
<link id="cord" bandwidth="1GBps" latencies="1us"/>
<hots id="beta" speed="1Gf"/>
<route src="alpha" dst="beta"><link_ctn id="wier"/></route>"#,
    );
    // By line: the second host, its speed, the bandwidth, the attribute, the element, the link and
    // the host.
    let expected = [
        "3:1: there are two hosts, routers or zones named `alpha`",
        "3:18: `speed`: expected a quantity above 0 such as `1Gf`, found `fast`",
        "4:17: `bandwidth`: -5MBps is negative",
        "5:35: <link> has no attribute `latencies` (did you mean `latency`?)",
        "6:1: unknown element <hots> (did you mean `host`?)",
        "7:20: there is no host, router or zone `beta`",
        "7:41: there is no link `wier` (did you mean `wire`?)",
    ];
    assert_eq!(found, expected);
}

#[test]
fn zones_have_known_routings() {
    let zone = |routing: &str| {
        let text = format!(
            r#"<platform version="4.1"><zone id="z" routing="{routing}">{TWO}</zone></platform>"#
        );
        faults(&text)
    };
    assert_eq!(zone("floyd"), [""; 0]);
    let unknown = "1:38: unknown routing `Flyod`; expected Full, Floyd, Dijkstra, DijkstraCache, \
                   Cluster, Vivaldi, None (did you mean `Floyd`?)";
    assert_eq!(zone("Flyod"), [unknown]);
    assert_eq!(zone("Wifi"), ["1:38: wireless zones are not modelled"]);
}

#[test]
fn routes_name_what_is_there() {
    let wire = [
        r#"<link id="wire" bandwidth="1GBps"/>"#,
        r#"<link id="pair" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/>"#,
    ]
    .concat();
    let route = |text: &str| in_zone(&format!("{TWO}{wire}\n{text}"));
    assert_eq!(
        route(r#"<route src="alpha" dst="beta"><link_ctn id="pair"/></route>"#),
        [r#"3:41: `pair` has two directions: say direction="UP" or "DOWN""#]
    );
    assert_eq!(
        route(r#"<route src="alpha" dst="beta"><link_ctn id="wire" direction="UP"/></route>"#),
        ["3:41: `wire` has no directions: it is not SPLITDUPLEX"]
    );
    assert_eq!(route(r#"<route src="alpha" dst="beta"/>"#), ["3:1: <route> needs a <link_ctn>"]);
    let twice = r#"<route src="alpha" dst="beta"><link_ctn id="wire"/></route>
<route src="beta" dst="alpha"><link_ctn id="wire"/></route>"#;
    let both = "routes lead both ways unless they say symmetrical=\"NO\"";
    assert_eq!(
        route(twice),
        [
            format!("4:1: there are two routes from `beta` to `alpha` ({both})"),
            format!("4:1: there are two routes from `alpha` to `beta` ({both})"),
        ]
    );
}

#[test]
fn gateways_lie_in_their_zones() {
    let text = r#"<zone id="a" routing="Full"><host id="a0" speed="1Gf"/></zone>
<zone id="b" routing="Full"><host id="b0" speed="1Gf"/></zone><link id="l" bandwidth="1GBps"/>
<zoneRoute src="a" dst="b" gw_src="a0" gw_dst="a0"><link_ctn id="l"/></zoneRoute>
<route src="a0" dst="b0"><link_ctn id="l"/></route>"#;
    assert_eq!(
        in_zone(text),
        [
            "4:1: the gateway `a0` does not lie in zone `b`",
            "4:1: the gateways of a route between zones are two",
            "5:1: `a0` lies in zone `a`; a route of zone `z` connects what lies directly in it",
        ]
    );
}

#[test]
fn numbers_of_hosts() {
    let cluster = |radical: &str| {
        faults(&format!(
            "<platform version=\"4.1\">\n\
             <cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"{radical}\" speed=\"1Gf\" \
             bw=\"1GBps\" lat=\"1us\"/></platform>"
        ))
    };
    for (radical, wanted) in [
        ("0-99999999999", "99999999999 is more than 4294967295"),
        ("5-2", "expected numbers such as 0-15,20, found `5-2`"),
        ("x", "expected numbers such as 0-15,20, found `x`"),
    ] {
        assert_eq!(cluster(radical), [format!("2:38: `radical`: {wanted}")]);
    }
}

#[test]
fn topologies_have_fitting_parameters() {
    let cluster = |topology: &str, parameters: &str| {
        faults(&format!(
            "<platform version=\"4.1\">\n\
             <cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-15\" speed=\"1Gf\" \
             bw=\"1GBps\" lat=\"1us\" topology=\"{topology}\"\n\
             topo_parameters=\"{parameters}\"/></platform>"
        ))
    };
    assert_eq!(cluster("TORUS", "4,4"), [""; 0]);
    assert_eq!(
        cluster("TORUS", "4,0"),
        ["3:1: topo_parameters: expected sizes such as `4,4,2`, found `4,0`"]
    );
    assert_eq!(
        cluster("TORUS", "5,4"),
        ["3:1: topo_parameters: the topology has 20 hosts, `radical` 16"]
    );
    let tree = "3:1: topo_parameters: expected levels, children, parents and parallel cables of \
                each level, such as `2;4,4;1,2;1,1`, found `2;4,4;1,2`";
    assert_eq!(cluster("FAT_TREE", "2;4,4;1,2"), [tree]);
    let groups = "3:1: topo_parameters: 4 groups need as many blades in a chassis, not 2 \
                  (the cable to group g is at blade g of the first chassis)";
    assert_eq!(cluster("DRAGONFLY", "4,1;1,1;2,1;2"), [groups]);
    assert_eq!(
        cluster("FAT_TREE", "2;4,4;60000,60000;1,1"),
        ["3:1: topo_parameters: more than 16777216 hosts and links"]
    );
    // 16 switches in the first level and 64 in the second, above 16 hosts.
    let wide = faults(
        r#"<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf"
bw="1GBps" lat="1us" limiter_link="1GBps"
topology="FAT_TREE" topo_parameters="2;4,4;4,16;1,1"/></platform>"#,
    );
    let names =
        "3:21: limiters: SimGrid has no names for them in a tree with more switches than hosts";
    assert_eq!(wide, [names]);
    assert_eq!(
        cluster("TORUSS", "4,4"),
        ["2:86: `topology`: expected FLAT, FAT_TREE, TORUS, DRAGONFLY, found `TORUSS` (did you \
             mean `TORUS`?)"]
    );
}

#[test]
fn old_files_and_foreign_features_are_refused_with_the_way_out() {
    let old = faults(r#"<platform version="3"><AS id="z" routing="Full"/></platform>"#);
    assert_eq!(old.len(), 1);
    assert!(
        old[0].starts_with("1:11: version 3: expected 4 or 4.1")
            && old[0].contains("simgrid_update_xml")
    );
    let file = in_zone(r#"<host id="a" speed="1Gf" state_file="a.profile"/>"#);
    assert!(
        file.len() == 1 && file[0].starts_with("2:26: `state_file`: hosts and links that change"),
        "{file:?}"
    );
    let include = in_zone(&format!("{TWO}<include file=\"more.xml\"/>"));
    assert!(
        include.len() == 1 && include[0].contains("put what is in `more.xml` in its place"),
        "{include:?}"
    );
    assert_eq!(faults("<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">").len(), 2);
    assert_eq!(faults("").len(), 1);
}

#[test]
fn a_missing_route_names_hosts_and_zone() {
    let text = format!(
        r#"<platform version="4.1"><zone id="z" routing="Floyd">{TWO}<host id="gamma" speed="1Gf"/>
<link id="l" bandwidth="1GBps"/><route src="alpha" dst="beta"><link_ctn id="l"/></route></zone>
</platform>"#
    );
    let platform = Platform::read(&text).unwrap();
    let mut links = vec![7];
    let error = platform.route(0, 2, &mut links).unwrap_err();
    let expected = "there is no route from `alpha` to `gamma`: zone `z` (routing Floyd), `alpha` \
                    to `gamma`: there are no routes between them";
    assert_eq!(error.to_string(), expected);
    assert!(links.is_empty());
    assert!(platform.route(0, 3, &mut links).unwrap_err().to_string().contains("no such host"));
}

/// Entities that nobody defined, a second outermost element, and text, which no element holds.
#[test]
fn what_is_not_used_is_an_error() {
    let entity = in_zone(r#"<host id="b&x;" speed="1Gf"/>"#);
    assert_eq!(entity.len(), 1);
    assert!(entity[0].starts_with("2:7: `id`: ") && entity[0].contains("`x`"), "{entity:?}");
    assert_eq!(in_zone(r#"<host id="b&lt;&#66;" speed="1Gf"/>"#), [""; 0]);
    let zone =
        format!(r#"<platform version="4.1"><zone id="z" routing="None">{TWO}</zone></platform>"#);
    assert_eq!(
        faults(&format!("<?xml version=\"1.0\"?>\n<!-- x -->{zone}\n<!-- y -->\n")),
        [""; 0]
    );
    assert_eq!(
        faults(&format!("{zone}\n{zone}")),
        ["2:1: a second outermost element; the file ends with </platform>"]
    );
    assert_eq!(
        faults(&format!("{zone}\ngarbage")),
        ["2:1: expected an element, found the text `garbage`"]
    );
    assert_eq!(faults(&format!("x\n{zone}")), ["1:1: expected an element, found the text `x`"]);
    let inside = in_zone(&format!("{TWO} garbage\n&lt;<![CDATA[more]]>"));
    assert_eq!(inside.len(), 3, "{inside:?}");
    assert!(inside[0].ends_with("found the text `garbage`"), "{inside:?}");
}
