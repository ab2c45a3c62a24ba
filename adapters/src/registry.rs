//! The closed set of vendors: one line each, and nothing else in this crate that has to know of a new one.
//!
//! A line names a vendor's folder and its name among [`Dialect`]s. Out of it come the folder's module, the name, the arms of
//! [`Decoder`] and [`Encoder`], and its place in the lists; what is known of it stands in the folder, as its [`Vendor`]. A vendor whose
//! program keeps its sessions in files, or has a mode with words of its own, has a line more for each: the module that reads and writes it, or only reads it.

use enum_dispatch::enum_dispatch;

use crate::codec::{Format, ReadOnly, Style};
use crate::vendor::Vendor;

/// Calls a macro with all vendors.
macro_rules! vendors {
    ($make:ident) => {
        $make! {
            agents {
                claude Claude,
                qwen Qwen,
                qwen_code QwenCode,
                tricode Tricode,
                cursor Cursor,
                gemini Gemini,
                codex Codex,
                atif Atif,
                acp Acp,
                ag_ui AgUi,
                opencode Opencode,
                sharegpt Sharegpt,
                agentglot Agentglot,
            }
            apis {
                openai Openai,
                anthropic Anthropic,
            }
            stores {
                claude::transcript Transcript,
                qwen_code::chat Chat,
                codex::app_server AppServer,
                codex::rollout Rollout,
                gemini::chat GeminiChat,
                opencode::export Export,
                openai::messages Messages,
            }
            readers {
                opencode::bus Bus,
            }
        }
    };
}

/// Makes the vendors' modules. They are those of the crate's root, so that the folders lie where they are looked for.
macro_rules! folders {
    (agents { $($agent:ident $a:ident,)+ } apis { $($api:ident $b:ident,)+ } stores { $($stores:tt)* } readers { $($readers:tt)* }) => {
        $(mod $agent;)+
        $(mod $api;)+
    };
}

/// Makes the vendors' modules for [`crate::raw`].
macro_rules! inside_folders {
    (agents { $($agent:ident $a:ident,)+ } apis { $($api:ident $b:ident,)+ } stores { $($stores:tt)* } readers { $($readers:tt)* }) => {
        inside! {
            $(#[doc = concat!("What [`Dialect::", stringify!($a), "`](crate::Dialect::", stringify!($a), ") is read and written with.")] $agent,)+
            $(#[doc = concat!("What [`Dialect::", stringify!($b), "`](crate::Dialect::", stringify!($b), ") is read with.")] $api,)+
        }
    };
}

macro_rules! dialects {
    (
        agents { $($agent:ident $Agent:ident,)+ }
        apis { $($api:ident $Api:ident,)+ }
        stores { $($keeper:ident::$store:ident $Store:ident,)* }
        readers { $($teller:ident::$reader:ident $Reader:ident,)* }
    ) => {
        /// The name of a vendor's vocabulary. What is known of it stands in its [`Vendor`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dialect {
            $(
                #[doc = concat!("Of [`crate::", stringify!($agent), "`].")]
                $Agent,
            )+
            $(
                #[doc = concat!("Of [`crate::", stringify!($api), "`]. Its streams are read only: agents speak to it, hosts do not.")]
                $Api,
            )+
        }

        /// The decoder of any dialect.
        #[enum_dispatch(Decode)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        #[derive(Debug)]
        pub enum Decoder {
            $($Agent(crate::$agent::Decoder),)+
            $($Api(crate::$api::Decoder),)+
            $($Store(crate::$keeper::$store::Decoder),)*
            $($Reader(crate::$teller::$reader::Decoder),)*
        }

        /// The encoder of any dialect.
        #[enum_dispatch(Encode)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        #[derive(Debug)]
        pub enum Encoder {
            $($Agent(crate::$agent::Encoder),)+
            $($Store(crate::$keeper::$store::Encoder),)*
            ReadOnly(ReadOnly),
            Collector(crate::read::Collector),
        }

        impl Dialect {
            /// Every dialect of agents: they are read and written.
            pub const ALL: [Self; [$(stringify!($Agent)),+].len()] = [$(Self::$Agent),+];

            /// The model APIs: their streams can be read, and are never written; other modes of theirs may be both.
            pub const APIS: [Self; [$(stringify!($Api)),+].len()] = [$(Self::$Api),+];

            /// Whether it is a model API.
            pub const fn is_api(self) -> bool {
                match self {
                    $(Self::$Agent => false,)+
                    $(Self::$Api => true,)+
                }
            }

            /// What is known of it.
            pub const fn vendor(self) -> &'static Vendor {
                match self {
                    $(Self::$Agent => &crate::$agent::VENDOR,)+
                    $(Self::$Api => &crate::$api::VENDOR,)+
                }
            }
        }
    };
}

vendors!(dialects);

impl Dialect {
    /// The canonical model's own.
    pub const CANONICAL: Self = Self::Agentglot;

    /// Every dialect of agents, and the model APIs.
    pub fn readable() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::APIS)
    }
}

impl Decoder {
    /// A decoder at the beginning of a log.
    pub fn new(format: impl Into<Format>) -> Self {
        let Format { dialect, mode } = format.into();
        (dialect.vendor().decoder)(mode)
    }

    /// A decoder of what a host says; for a dialect whose hosts say nothing in lines, the one of its logs.
    pub fn of_host(dialect: Dialect) -> Self {
        let vendor = dialect.vendor();
        match vendor.host_decoder {
            Some(decoder) => decoder(),
            None => Self::new(dialect),
        }
    }
}

impl Encoder {
    /// An encoder at the beginning of a session. For a dialect, or a mode of one, that nobody writes it writes nothing.
    pub fn new(dialect: Dialect, style: Style) -> Self {
        match dialect.vendor().encoder {
            Some(encoder) if !style.mode.read_only => encoder(style),
            _ => ReadOnly.into(),
        }
    }
}
