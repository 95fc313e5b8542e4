#[test]
fn says_hello() { assert_eq!(hello::hello(), "hello"); }
