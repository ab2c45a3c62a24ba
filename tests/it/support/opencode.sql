BEGIN TRANSACTION;
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_20af7e64800160LOriWgqV9R2I','ses_df5081a0dffegdwHZAiORZUoLc',1795480348232,1795480351206,'{"role":"user","time":{"created":1795480348232},"agent":"build","model":{"providerID":"mock","modelID":"mock-1"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_20af7eaf80016pAs7bG7LZ1lR3','ses_df5081a0dffegdwHZAiORZUoLc',1795480349432,1795480351175,'{"parentID":"msg_20af7e64800160LOriWgqV9R2I","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/workspace","root":"/"},"cost":0.00014,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"mock","time":{"created":1795480349432,"completed":1795480351174},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_20af7ef4e001xFLRLGf4mzcaLU','ses_df50810c9ffedy9v9djwNZPi3l',1795480350543,1795480351193,'{"role":"user","time":{"created":1795480350543},"agent":"general","model":{"providerID":"mock","modelID":"mock-1"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480350590,1795480351035,'{"parentID":"msg_20af7ef4e001xFLRLGf4mzcaLU","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/workspace","root":"/"},"cost":0.00014,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"mock","time":{"created":1795480350590,"completed":1795480351035},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_20af7f13d001wXI1WrpJHE9LDC','ses_df50810c9ffedy9v9djwNZPi3l',1795480351037,1795480351151,'{"parentID":"msg_20af7ef4e001xFLRLGf4mzcaLU","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/workspace","root":"/"},"cost":0.000143,"tokens":{"total":122,"input":101,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"mock","time":{"created":1795480351037,"completed":1795480351150},"finish":"stop"}');
INSERT INTO message VALUES('msg_20af7f1ce001WAX85ZOyjTH2iZ','ses_df5081a0dffegdwHZAiORZUoLc',1795480351182,1795480351385,'{"parentID":"msg_20af7e64800160LOriWgqV9R2I","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/workspace","root":"/"},"cost":0.000143,"tokens":{"total":122,"input":101,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"mock","time":{"created":1795480351182,"completed":1795480351380},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_20af7e6530015Xa9BZoErCrUdC','msg_20af7e64800160LOriWgqV9R2I','ses_df5081a0dffegdwHZAiORZUoLc',1795480349412,1795480349414,'{"type":"text","text":"\"[[agent]] go\""}');
INSERT INTO part VALUES('prt_20af7ef0b001MINkXuT5Ku62p5','msg_20af7eaf80016pAs7bG7LZ1lR3','ses_df5081a0dffegdwHZAiORZUoLc',1795480350475,1795480350483,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_20af7ef19001T1AWZGuJXYqMLN','msg_20af7eaf80016pAs7bG7LZ1lR3','ses_df5081a0dffegdwHZAiORZUoLc',1795480350489,1795480350568,'{"type":"text","text":"Delegating.","time":{"start":1795480350489,"end":1795480350568}}');
INSERT INTO part VALUES('prt_20af7ef1c001E3oBTTldRaq2I5','msg_20af7eaf80016pAs7bG7LZ1lR3','ses_df5081a0dffegdwHZAiORZUoLc',1795480350492,1795480351166,'{"type":"tool","tool":"task","callID":"toolu_mock000002","state":{"status":"completed","input":{"description":"Sub job","prompt":"[[sub]] please look","subagent_type":"general"},"output":"<task id=\"ses_df50810c9ffedy9v9djwNZPi3l\" state=\"completed\">\n<task_result>\nSub result: all fine.\n</task_result>\n</task>","metadata":{"parentSessionId":"ses_df5081a0dffegdwHZAiORZUoLc","sessionId":"ses_df50810c9ffedy9v9djwNZPi3l","model":{"modelID":"mock-1","providerID":"mock"},"truncated":false},"title":"Sub job","time":{"start":1795480350530,"end":1795480351165}}}');
INSERT INTO part VALUES('prt_20af7ef51001iVuRY4E52hWjJR','msg_20af7ef4e001xFLRLGf4mzcaLU','ses_df50810c9ffedy9v9djwNZPi3l',1795480350547,1795480350547,'{"type":"text","text":"[[sub]] please look"}');
INSERT INTO part VALUES('prt_20af7f062001zG3935SJsxSg9f','msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480350819,1795480350820,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_20af7f069001ktolx2fuYy6Bxr','msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480350825,1795480350828,'{"type":"reasoning","text":"sub thinking","time":{"start":1795480350825,"end":1795480350828}}');
INSERT INTO part VALUES('prt_20af7f0710011tSdIimediijjh','msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480350834,1795480350866,'{"type":"text","text":"Sub looking.","time":{"start":1795480350834,"end":1795480350865}}');
INSERT INTO part VALUES('prt_20af7f073001dLVzuVVjLall82','msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480350835,1795480351028,'{"type":"tool","tool":"bash","callID":"toolu_mock000003","state":{"status":"completed","input":{"command":"echo from-sub","description":"Run it"},"output":"from-sub\n","metadata":{"output":"from-sub\n","exit":0,"truncated":false},"title":"echo from-sub","time":{"start":1795480350854,"end":1795480351027}}}');
INSERT INTO part VALUES('prt_20af7f136001sQNkyPDhpTAtFs','msg_20af7ef7e001uy6YlBUqNqcwB9','ses_df50810c9ffedy9v9djwNZPi3l',1795480351031,1795480351031,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00014}');
INSERT INTO part VALUES('prt_20af7f19b001Hc3dKPzGfmiHTH','msg_20af7f13d001wXI1WrpJHE9LDC','ses_df50810c9ffedy9v9djwNZPi3l',1795480351131,1795480351132,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_20af7f1a100110EFMQBWaJZiI2','msg_20af7f13d001wXI1WrpJHE9LDC','ses_df50810c9ffedy9v9djwNZPi3l',1795480351137,1795480351141,'{"type":"text","text":"Sub result: all fine.","time":{"start":1795480351137,"end":1795480351140}}');
INSERT INTO part VALUES('prt_20af7f1a6001JK02RyOADfVFSO','msg_20af7f13d001wXI1WrpJHE9LDC','ses_df50810c9ffedy9v9djwNZPi3l',1795480351142,1795480351143,'{"reason":"stop","type":"step-finish","tokens":{"total":122,"input":101,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000143}');
INSERT INTO part VALUES('prt_20af7f1bf0012gFIsFuy4jiSb8','msg_20af7eaf80016pAs7bG7LZ1lR3','ses_df5081a0dffegdwHZAiORZUoLc',1795480351167,1795480351167,'{"reason":"tool-calls","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00014}');
INSERT INTO part VALUES('prt_20af7f27e001rkOTwUCQJPQ7pm','msg_20af7f1ce001WAX85ZOyjTH2iZ','ses_df5081a0dffegdwHZAiORZUoLc',1795480351358,1795480351359,'{"type":"step-start"}');
INSERT INTO part VALUES('prt_20af7f280001E7QfXVz5SBJf00','msg_20af7f1ce001WAX85ZOyjTH2iZ','ses_df5081a0dffegdwHZAiORZUoLc',1795480351360,1795480351370,'{"type":"text","text":"The subagent reported back.","time":{"start":1795480351360,"end":1795480351369}}');
INSERT INTO part VALUES('prt_20af7f291001zuERSEvI6GNWnU','msg_20af7f1ce001WAX85ZOyjTH2iZ','ses_df5081a0dffegdwHZAiORZUoLc',1795480351377,1795480351378,'{"reason":"stop","type":"step-finish","tokens":{"total":122,"input":101,"output":21,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.000143}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO session VALUES('ses_df5081a0dffegdwHZAiORZUoLc','global',NULL,NULL,'calm-sailor','/workspace','workspace','Delegating.','1.18.33',NULL,0,0,0,NULL,NULL,0.00028299999999999999418,201,41,0,0,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"mock-1","providerID":"mock","variant":"default"}',1795480348146,1795480351423,NULL,NULL);
INSERT INTO session VALUES('ses_df50810c9ffedy9v9djwNZPi3l','global',NULL,'ses_df5081a0dffegdwHZAiORZUoLc','happy-eagle','/workspace','workspace','Sub job (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.00028299999999999999418,201,41,0,0,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"},{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"mock-1","providerID":"mock","variant":"default"}',1795480350518,1795480351186,NULL,NULL);
COMMIT;
