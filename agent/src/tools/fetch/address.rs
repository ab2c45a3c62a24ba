use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is that is not public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The machine itself, a private or a link-local network.
    Private,
    /// The service that tells a machine of a cloud its secrets.
    Metadata,
    /// For other uses than a host: multicast, documentation, tests, reserved.
    Reserved,
    /// An address of the old kind, or of a tunnel, within one of the new kind.
    Embedded,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "private IP",
            Self::Metadata => "cloud metadata",
            Self::Reserved => "reserved IP",
            Self::Embedded => "embedded IP",
        })
    }
}

/// Whether an address is a public one (IANA's registries of special addresses).
///
/// # Errors
/// What it is otherwise.
pub fn judge(address: IpAddr) -> Result<(), Refused> {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

fn judge_v4(address: Ipv4Addr) -> Result<(), Refused> {
    let refused = match address.octets() {
        // AWS, Google, Azure, and others; Azure's other one; Oracle's; Alibaba's.
        [169, 254, 169, 254] | [168, 63, 129, 16] | [192, 0, 0, 192] | [100, 100, 100, 200] => Refused::Metadata,
        // This network, private ones, shared space behind a carrier's NAT, the machine, link-local.
        [0 | 10 | 127, ..] | [100, 64..=127, ..] | [169, 254, ..] | [172, 16..=31, ..] | [192, 168, ..] => Refused::Private,
        // Protocols, documentation, 6to4 relays, AS112, tests between networks, multicast, the future, broadcast.
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [192, 31, 196, _]
        | [192, 52, 193, _]
        | [192, 175, 48, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [224..=255, ..] => Refused::Reserved,
        _ => return Ok(()),
    };
    Err(refused)
}

fn judge_v6(address: Ipv6Addr) -> Result<(), Refused> {
    let refused = match address.segments() {
        // AWS's.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Refused::Metadata,
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Refused::Private,
        // IPv4-mapped, IPv4-compatible, both NAT64s, 6to4, Teredo: what they lead to is another address.
        [0, 0, 0, 0, 0, 0xffff | 0, ..] | [0x64, 0xff9b, ..] | [0x2002, ..] | [0x2001, 0, ..] => Refused::Embedded,
        // Unique-local, link-local, site-local.
        [0xfc00..=0xfdff, ..] | [0xfe80..=0xfeff, ..] => Refused::Private,
        // Global unicast is 2000::/3; of it, protocols and documentation are not for hosts.
        [0x2001, 0x1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Refused::Reserved,
        [0x2000..=0x3fff, ..] => return Ok(()),
        _ => Refused::Reserved,
    };
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_public_and_no_others() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860::8888",
        ] {
            assert_eq!(judge(public.parse().unwrap()), Ok(()), "{public}");
        }
        let refused = [
            ("127.0.0.1", Refused::Private),
            ("127.255.0.1", Refused::Private),
            ("0.0.0.0", Refused::Private),
            ("10.1.2.3", Refused::Private),
            ("172.16.0.1", Refused::Private),
            ("172.31.255.255", Refused::Private),
            ("192.168.1.1", Refused::Private),
            ("169.254.0.1", Refused::Private),
            ("100.64.0.1", Refused::Private),
            ("100.127.255.255", Refused::Private),
            ("169.254.169.254", Refused::Metadata),
            ("168.63.129.16", Refused::Metadata),
            ("100.100.100.200", Refused::Metadata),
            ("fd00:ec2::254", Refused::Metadata),
            ("224.0.0.1", Refused::Reserved),
            ("255.255.255.255", Refused::Reserved),
            ("240.0.0.1", Refused::Reserved),
            ("198.18.0.1", Refused::Reserved),
            ("203.0.113.9", Refused::Reserved),
            ("::", Refused::Private),
            ("::1", Refused::Private),
            ("fe80::1", Refused::Private),
            ("fec0::1", Refused::Private),
            ("fc00::1", Refused::Private),
            ("fdff::1", Refused::Private),
            ("ff02::1", Refused::Reserved),
            ("2001:db8::1", Refused::Reserved),
            ("100::1", Refused::Reserved),
            ("::ffff:1.1.1.1", Refused::Embedded),
            ("::ffff:127.0.0.1", Refused::Embedded),
            ("::127.0.0.1", Refused::Embedded),
            ("64:ff9b::7f00:1", Refused::Embedded),
            ("64:ff9b:1::1", Refused::Embedded),
            ("2002:7f00:1::", Refused::Embedded),
            ("2001::1", Refused::Embedded),
        ];
        for (address, kind) in refused {
            assert_eq!(judge(address.parse().unwrap()), Err(kind), "{address}");
        }
    }
}
