use super::*;

fn findings(line: &str, used: &[&str], took: &[&str]) -> Vec<String> {
    let trace = Trace::default();
    trace.begin(line);
    for part in used {
        let at = line.find(part).unwrap();
        trace.used(&line[at..at + part.len()]);
    }
    for part in took {
        let at = line.find(part).unwrap();
        trace.took(&line[at..at + part.len()]);
    }
    trace.settle(line, false, "x").into_iter().map(|f| f.pointer).collect()
}

#[test]
fn names_the_largest_parts_that_nobody_wrote() {
    let line = r#"{"type":"user","a":{"b":1,"c":{"d":"deep","e":2}},"list":[{"x":7},{"y":8}],"z~/":3,"n":{},"":0}"#;
    assert_eq!(findings(line, &[], &["user"]), [""], "nothing carried: the whole line");
    assert_eq!(
        findings(line, &["deep", "7"], &["user"]),
        ["/a/b", "/a/c/e", "/list/1", "/z~0~1", "/n", "/"]
    );
    assert_eq!(
        findings(line, &[r#"{"b":1,"c":{"d":"deep","e":2}}"#], &[]),
        ["/type", "/list", "/z~0~1", "/n", "/"]
    );
    assert!(findings(line, &[line], &[]).is_empty());
}

#[test]
fn an_event_that_has_no_place_hides_no_other_part() {
    let line = r#"{"prompt":"p","reply":"r","id":7}"#;
    let found = |written: &[&str], wrote: bool| {
        let trace = Trace::default();
        trace.begin(line);
        trace.left_out("no prompts");
        trace.note(Fate::Dropped, "", "and more");
        written
            .iter()
            .for_each(|part| trace.used(&line[line.find(part).unwrap()..][..part.len()]));
        let findings = trace.settle(line, wrote, "x");
        findings.into_iter().map(|f| format!("{} {}", f.pointer, f.note)).collect::<Vec<_>>()
    };
    assert_eq!(found(&["\"r\""], true), [" and more", "/prompt no place in x", "/id no place in x"]);
    assert_eq!(found(&[], true), [" and more"], "what was written is of other lines");
    let trace = Trace::default();
    trace.begin(line);
    trace.left_out("no prompts");
    assert_eq!(trace.settle(line, false, "x")[0].note, "no prompts");
}

#[test]
fn a_line_that_has_no_place_is_not_merged_too() {
    let trace = Trace::default();
    let line = r#"{"prompt":"p"}"#;
    trace.begin(line);
    trace.left_out("no prompts");
    trace.merged("goes over whole");
    let findings = trace.settle(line, false, "x");
    let told: Vec<_> = findings.iter().map(|f| (f.fate, f.note.as_str())).collect();
    assert_eq!(told, [(Fate::Dropped, "no prompts")]);
}

#[test]
fn an_empty_string_that_was_written_is_covered() {
    let line = r#"{"a":"","b":""}"#;
    let trace = Trace::default();
    trace.begin(line);
    trace.used(&line[6..6]);
    let pointers: Vec<_> = trace.settle(line, true, "x").into_iter().map(|f| f.pointer).collect();
    assert_eq!(pointers, ["/b"]);
}

#[test]
fn a_renamed_container_is_named_by_its_own_pointer() {
    let line = r#"{"m":{"input":{"a":1,"b":{"c":2}},"name":"Read"}}"#;
    let trace = Trace::default();
    trace.begin(line);
    let at = line.find(r#"{"a""#).unwrap();
    trace.renamed(&line[at..at + r#"{"a":1,"b":{"c":2}}"#.len()], "reshaped");
    let at = line.find("Read").unwrap();
    trace.renamed(&line[at..at + 4], "renamed");
    let found: Vec<_> = trace.settle(line, true, "x").into_iter().map(|f| f.pointer).collect();
    assert_eq!(found, ["/m/input", "/m/name"]);
}

#[test]
fn what_was_held_is_told_on_its_own_line() {
    let trace = Trace::default();
    let (mut first, mut second, mut gone) = (Kept::default(), Kept::default(), Kept::default());
    let lines = [r#"{"m":{"text":"one"},"id":7}"#, r#"{"text":"two","more":"three"}"#];
    let part = |line: usize, text: &str| lines[line].find(text).map(|at| &lines[line][at..at + text.len()]).unwrap();
    trace.begin(lines[0]);
    trace.hold(&mut first, part(0, "one"));
    assert!(trace.settle(lines[0], false, "x").iter().all(|f| f.pointer == "/id"), "held for now");
    trace.settle_held(lines[0], 4);
    assert!(trace.take_late().is_empty());
    trace.begin(lines[1]);
    trace.tell_held(&mut first, Fate::Dropped, "no place");
    trace.hold(&mut second, part(1, "two"));
    trace.tell_held(&mut second, Fate::Dropped, "no place either");
    trace.hold(&mut gone, part(1, "three"));
    trace.release(&mut gone);
    trace.tell_held(&mut gone, Fate::Dropped, "went over");
    trace.settle_held(lines[1], 5);
    let late: Vec<_> = trace.take_late().into_iter().map(|(line, f)| (line, f.pointer, f.note)).collect();
    let wanted = [(4, "/m/text", "no place"), (5, "/text", "no place either")];
    assert_eq!(late, wanted.map(|(line, pointer, note)| (line, pointer.to_owned(), note.to_owned())));
    let mut pieces = Kept::default();
    trace.hold(&mut pieces, "of no line");
    trace.tell_held(&mut pieces, Fate::Dropped, "no place");
    assert_eq!(trace.take_findings().len(), 1, "what no line holds is told where it is dropped");
}

#[test]
fn what_stands_for_a_part_goes_over_for_it() {
    let line = r#"{"list":[{"code":"x"}],"seconds":17,"millis":17000}"#;
    let part = |text: &str| line.find(text).map(|at| &line[at..at + text.len()]).unwrap();
    let made = String::from(r#"[{"sequence":"x"}]"#);
    let found = |written: &[&str]| {
        let trace = Trace::default();
        trace.begin(line);
        trace.stands_for(&made, part(r#"[{"code":"x"}]"#));
        trace.stands_for(part("17000"), part("17"));
        written.iter().for_each(|text| trace.used(text));
        trace.settle(line, true, "x").into_iter().map(|f| f.pointer).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [""]);
    assert_eq!(found(&[&made]), ["/seconds", "/millis"]);
    assert_eq!(found(&[part("17000")]), ["/list"]);
}

#[test]
fn what_a_text_says_that_has_no_place_is_told_once() {
    let line = r#"{"id":"b","action":{"query":"x"}}"#;
    let part = |text: &str| line.find(text).map(|at| &line[at..at + text.len()]).unwrap();
    let made = String::from(r#"{"action":"search","query":"x"}"#);
    let trace = Trace::default();
    trace.begin(line);
    trace.stands_for(&made, part(r#"{"query":"x"}"#));
    trace.used(part("b"));
    trace.lost(&made[10..18], None, "no place in x: action");
    let found: Vec<_> = trace.settle(line, true, "x").into_iter().map(|f| (f.pointer, f.note)).collect();
    assert_eq!(found, [("/action".to_owned(), "no place in x: action".to_owned())]);
}
