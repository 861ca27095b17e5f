//! Routes of generated clusters against what their topology says, and any text.

use platform::Platform;
use proptest::prelude::*;

fn cluster(hosts: u32, topology: &str, parameters: &str) -> Platform {
    let text = format!(
        r#"<platform version="4.1"><cluster id="c" prefix="" suffix="" radical="0-{}" speed="1Gf"
           bw="1GBps" lat="1us" topology="{topology}" topo_parameters="{parameters}"/></platform>"#,
        hosts - 1
    );
    Platform::read(&text).unwrap()
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Around a ring of n the way from a to b is |a - b| or n - |a - b| long, whichever is shorter.
    #[test]
    fn torus_routes_are_shortest(
        sizes in prop::collection::vec(2_u32..7, 1..4), pick in any::<[u32; 2]>()
    ) {
        let hosts: u32 = sizes.iter().product();
        prop_assume!(hosts > 1);
        let platform = cluster(hosts, "TORUS", &list(&sizes));
        let [from, to] = pick.map(|pick| pick % hosts);
        let mut hops = 0;
        let (mut a, mut b) = (from, to);
        for size in &sizes {
            let apart = (a % size).abs_diff(b % size);
            hops += apart.min(size - apart);
            (a, b) = (a / size, b / size);
        }
        let mut links = Vec::new();
        let latency = platform.route(from, to, &mut links);
        prop_assert_eq!(latency.is_ok(), hops > 0);
        prop_assert!((latency.unwrap_or(0.0) - f64::from(hops) * 1e-6).abs() < 1e-15);
        prop_assert_eq!(links.len(), hops as usize);
    }

    /// A way has as many links up as down: the level of the lowest switch that is above both hosts,
    /// whose numbers written in the children of each level agree from there on. Without limiters
    /// all links are cables.
    #[test]
    fn tree_routes_turn_at_the_lowest_common_switch(
        levels in prop::collection::vec((1_u32..5, 1_u32..4, 1_u32..4), 1..4),
        pick in any::<[u32; 2]>(),
    ) {
        let [children, parents, cables] = [
            levels.iter().map(|level| level.0).collect::<Vec<_>>(),
            levels.iter().map(|level| level.1).collect(),
            levels.iter().map(|level| level.2).collect(),
        ];
        let hosts: u32 = children.iter().product();
        let parameters =
            format!("{};{};{};{}", levels.len(), list(&children), list(&parents), list(&cables));
        let platform = cluster(hosts, "FAT_TREE", &parameters);
        let [from, to] = pick.map(|pick| pick % hosts);
        let (mut a, mut b, mut level) = (from, to, 0);
        while a != b || level == 0 {
            (a, b) = (a / children[level], b / children[level]);
            level += 1;
        }
        let mut links = Vec::new();
        platform.route(from, to, &mut links).unwrap();
        let names: Vec<_> =
            links.iter().map(|&l| platform.links()[l as usize].name.as_str()).collect();
        let up = names.iter().take_while(|name| name.ends_with("_UP")).count();
        let down = names.iter().rev().take_while(|name| name.ends_with("_DOWN")).count();
        prop_assert_eq!((up, down, names.len()), (level, level, 2 * level));
    }

    /// No text makes the reader or a route panic.
    #[test]
    fn any_text_is_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(PARTS), 0..30),
    ) {
        let text = format!("<platform version=\"4.1\">{}</platform>", parts.concat());
        if let Ok(platform) = Platform::read(&text) {
            let mut links = Vec::new();
            for from in 0..platform.hosts.len().min(6) as u32 {
                for to in 0..platform.hosts.len().min(6) as u32 {
                    let _ = platform.route(from, to, &mut links);
                }
            }
        }
    }
}

const PARTS: &[&str] = &[
    "<zone id=\"z\" routing=\"Full\">",
    "<zone id=\"y\" routing=\"Floyd\">",
    "<zone id=\"x\" routing=\"Dijkstra\">",
    "<zone id=\"w\" routing=\"Cluster\">",
    "<zone id=\"v\" routing=\"None\">",
    "</zone>",
    "</zone>",
    "<host id=\"a\" speed=\"1Gf\"/>",
    "<host id=\"b\" speed=\"1Gf\"/>",
    "<router id=\"r\"/>",
    "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>",
    "<link id=\"m\" bandwidth=\"1GBps\" sharing_policy=\"SPLITDUPLEX\"/>",
    "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>",
    "<route src=\"a\" dst=\"r\"><link_ctn id=\"m\" direction=\"UP\"/></route>",
    "<bypassRoute src=\"b\" dst=\"a\"><link_ctn id=\"l\"/></bypassRoute>",
    "<zoneRoute src=\"y\" dst=\"x\" gw_src=\"a\" gw_dst=\"b\"><link_ctn id=\"l\"/></zoneRoute>",
    "<bypassZoneRoute src=\"x\" dst=\"y\" gw_src=\"b\" gw_dst=\"a\"><link_ctn \
     id=\"l\"/></bypassZoneRoute>",
    "<host_link id=\"a\" up=\"l\" down=\"l\"/>",
    "<backbone id=\"bb\" bandwidth=\"1GBps\" latency=\"1us\"/>",
    "<cluster id=\"c\" prefix=\"\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" \
     lat=\"1us\"/>",
    "<cluster id=\"d\" prefix=\"d\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" \
     lat=\"1us\" topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,2;1,1\"/>",
    "<cabinet id=\"k\" prefix=\"k\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" \
     lat=\"1us\"/>",
];
