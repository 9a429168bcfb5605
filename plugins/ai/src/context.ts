import {
  Access,
  Clock,
  Commands,
  Languages,
  Llm,
  MessageDecisions,
  optional,
  type PluginContext,
  Plugins,
  Random,
  Redaction,
  Responders,
  type Settings,
  TEXT_LIMITS,
  z,
} from '@cinnabar/sdk';
import type { collections } from './still-working.js';

const responderName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'expected the name of a responder, such as chat');

const whole = (min: number, max: number) => z.number().int().min(min).max(max);

export const settings = {
  global: z.object({
    defaultResponder: responderName
      .default('chat')
      .describe('Answers where no server or channel has chosen a responder, and in direct messages'),
    maxConcurrent: whole(1, 100)
      .default(8)
      .describe(
        'In how many channels answers are made at the same time, servers in turn; one server takes at most three quarters of them, rounded up',
      ),
    perMember: whole(1, 100)
      .default(3)
      .describe('In how many channels one member may wait for answers at the same time, in all servers together'),
    adminsSeePrompts: z
      .boolean()
      .default(false)
      .describe('Whether admins may see the whole prompt of a channel with `ai prompt`, beside the owner of the bot'),
  }),
  guild: z.object({
    responder: responderName.optional().describe('Answers in this server; `ai use` sets it'),
    turnsPerMinute: whole(0, 600)
      .default(30)
      .describe('How often one member may talk to the bot within a minute; 0 for no limit')
      .meta({ noLimit: 0 }),
    maxWaiting: whole(0, 100)
      .default(10)
      .describe('How many messages may wait in one channel while the bot answers another'),
    maxWaitingOfMember: whole(1, 100)
      .default(5)
      .describe('How many of those that wait in one channel may be of one member'),
    deadlineSeconds: whole(10, 3_600)
      .default(120)
      .describe('How long one answer may take in all, in seconds; then it is given up'),
    patienceSeconds: whole(0, 600)
      .default(20)
      .describe('After how many seconds the bot says that it is still working on an answer; 0 for never'),
    answerMessages: whole(1, 30)
      .default(TEXT_LIMITS.messages)
      .describe('How many messages one answer may take; a longer one is sent as a file'),
    answerCharacters: whole(500, 50_000)
      .default(TEXT_LIMITS.characters)
      .describe('How many characters one answer may have; a longer one is sent as a file'),
  }),
  channel: z.object({
    channelResponder: responderName.optional().describe('Answers in this channel; `ai use … --here` sets it'),
  }),
  user: z.object({
    directResponder: responderName
      .optional()
      .describe('Answers your direct messages; `ai use` in a direct message sets it'),
  }),
};

export type AiSettings = Settings<typeof settings>;

export type Limits = z.output<typeof settings.guild>;

export const inject = {
  access: Access,
  clock: Clock,
  commands: Commands,
  decisions: MessageDecisions,
  languages: Languages,
  llm: optional(Llm),
  plugins: Plugins,
  random: Random,
  redaction: Redaction,
  responders: Responders,
};

export type AiContext = PluginContext<typeof settings, typeof collections, typeof inject>;
