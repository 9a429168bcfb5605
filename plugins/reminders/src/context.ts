import { Access, Clock, isTimeZone, Languages, type PluginContext, Random, z } from '@cinnabar/sdk';

export const settings = {
  guild: z.object({
    timeZone: z
      .string()
      .refine(isTimeZone, 'has to be a time zone such as Europe/Berlin')
      .meta({ format: 'time-zone' })
      .default('UTC')
      .describe('Time zone of members who have not chosen one'),
    mostPerMember: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(25)
      .describe('Reminders that one member may have in this server'),
    mostInServer: z
      .number()
      .int()
      .min(1)
      .max(5_000)
      .default(500)
      .describe('Reminders that all members together may have in this server')
      .meta({ ceiling: 2_000 }),
    shortestRepeatMinutes: z
      .number()
      .int()
      .min(10)
      .max(1_440)
      .default(60)
      .describe('The shortest time between two of a repeating reminder, in minutes'),
    mostRepeats: z
      .number()
      .int()
      .min(2)
      .max(1_000)
      .default(100)
      .describe('How often a repeating reminder comes before it ends'),
  }),
  user: z.object({
    timeZone: z
      .string()
      .refine((name) => name === '' || isTimeZone(name), 'has to be a time zone such as Europe/Berlin')
      .meta({ format: 'time-zone' })
      .default('')
      .describe('Your time zone; empty: that of the server'),
  }),
};

const repeat = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('interval'), everyMs: z.number().int().positive() }),
  z.object({ kind: z.literal('days'), days: z.number().int().positive(), minutes: z.number().int() }),
  z.object({ kind: z.literal('weekdays'), weekdays: z.array(z.number().int()), minutes: z.number().int() }),
  z.object({
    kind: z.literal('months'),
    months: z.number().int().positive(),
    day: z.number().int(),
    minutes: z.number().int(),
  }),
]);

const reminder = z.object({
  userId: z.string(),
  /** The reminder's number among those of the member. */
  number: z.number().int(),
  /** The guild in which it was set; `null` for a direct message. */
  guildId: z.string().nullable(),
  /** The target channel; `null` for a direct message to the member. */
  channelId: z.string().nullable(),
  /** The channel in which it was set, which is used when direct messages are closed. */
  setIn: z.string(),
  /** Whether others could read it when it was set. */
  isPublic: z.boolean(),
  /** The role that is mentioned in addition to the member. Empty: the reminder is for the whole channel and does not mention the member. */
  roleId: z.string().optional(),
  text: z.string(),
  /** The time as the member wrote it. */
  said: z.string(),
  timeZone: z.string(),
  dueAt: z.number(),
  repeat: repeat.optional(),
  /** Number of deliveries. */
  times: z.number().int().default(0),
  setAt: z.number(),
  /** When sending its message began, in ms since the Unix epoch: after a crash the message is searched for, not sent again. */
  sendingAt: z.number().optional(),
  /** Set at the last delivery; then the reminder is only kept for its buttons. */
  deliveredAt: z.number().optional(),
  /** The delivered message whose snooze button was used. */
  snoozedBy: z.string().optional(),
  /** Number of consecutive deliveries that failed permanently. */
  failures: z.number().int().default(0),
});
export type Reminder = z.output<typeof reminder>;

export const collections = {
  /** Not by guild, because in direct messages a member sees reminders of all servers. */
  reminders: { scope: 'global', version: 1, schema: reminder, personal: { by: 'userId' }, shared: true },
  /** When the member was asked for their time zone, since each is asked once. */
  asked: { scope: 'user', version: 1, schema: z.object({ zoneAskedAt: z.number().default(0) }) },
} as const;

export const inject = { access: Access, clock: Clock, languages: Languages, random: Random } as const;

export type ReminderContext = PluginContext<typeof settings, typeof collections, typeof inject>;
