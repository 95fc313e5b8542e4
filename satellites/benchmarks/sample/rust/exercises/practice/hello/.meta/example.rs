pub fn hello() -> &'static str { "hello" }
