pub fn hello() -> &'static str { todo!() }
