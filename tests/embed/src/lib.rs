//! The services as parts of somebody else's program. What is here is tests alone.

#[cfg(test)]
mod mount;
