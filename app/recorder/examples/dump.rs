//! Prints a trace.
fn main() {
    for path in std::env::args().skip(1) {
        let mut reader = traces::format::Reader::new(std::fs::File::open(&path).unwrap()).unwrap();
        println!("{path} {:?}", reader.header());
        let mut record = traces::record::Record::default();
        while reader.next(&mut record).unwrap() {
            let name = record.call().map_or_else(
                || reader.definitions().names.get(&record.id).cloned().unwrap_or_default(),
                |c| c.name.to_owned(),
            );
            println!("{} t{} {} +{} {:?}", name, record.thread, record.enter / 1000, (record.leave - record.enter) / 1000, record.values);
        }
        println!("{:?}", reader.warning());
        println!("{:?} {:?} {:?}", reader.definitions().communicators, reader.definitions().neighbours, reader.definitions().offsets);
    }
}
