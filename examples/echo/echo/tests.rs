use crate::codec::Dialect;
use crate::convert::{Converter, Options};

const LOG: &str = concat!(
    "{\"echo\":\"say\",\"session\":\"s1\",\"text\":\"I look.\"}\n",
    "{\"echo\":\"call\",\"session\":\"s1\",\"id\":\"c1\",\"tool\":\"look\",\"input\":{\"at\":\"sky\"}}\n",
    "{\"echo\":\"result\",\"session\":\"s1\",\"id\":\"c1\",\"ok\":true,\"text\":\"blue\"}\n",
    "{\"echo\":\"end\",\"session\":\"s1\",\"ok\":true,\"text\":\"It is blue.\",\"mood\":\"calm\"}\n",
);

fn converted(log: &str, from: Dialect, to: Dialect) -> String {
    let mut converter = Converter::new(Options::new(from.into(), to.into()));
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    String::from_utf8(out).expect("what is written is UTF-8")
}

#[test]
fn it_goes_to_the_canonical_events_and_back() {
    let events = converted(LOG, Dialect::Echo, Dialect::CANONICAL);
    assert!(events.contains("\"source\":\"echo\"") && events.contains("\"key\":\"mood\""), "{events}");
    assert_eq!(converted(&events, Dialect::CANONICAL, Dialect::Echo), LOG);
    assert_eq!(converted(LOG, Dialect::Echo, Dialect::Echo), LOG);
}
