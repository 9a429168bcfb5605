import {
  type ImportContext,
  importSetting,
  type ModerationAct,
  type ModerationCase,
  redImporter,
  z,
} from '@cinnabar/sdk';
import { createCases } from './cases.js';
import { type collections, type GuildSettings, LONGEST_REASON, parseThreshold, settings } from './settings.js';

type Context = ImportContext<typeof settings, typeof collections>;

/** The counterparts of Red's kinds of cases. Its mutes removed a role; they count as time-outs. */
const ACTS: Readonly<Record<string, ModerationAct>> = {
  ban: 'ban',
  hackban: 'ban',
  kick: 'kick',
  smute: 'timeout',
  softban: 'softban',
  sunmute: 'untimeout',
  tempban: 'tempban',
  timeout: 'timeout',
  unban: 'unban',
  warning: 'warn',
};

const id = z.union([z.string(), z.number()]).transform(String);
const seconds = z.number().transform((value) => value * 1_000);

const caseSchema = z.object({
  case_number: z.int(),
  action_type: z.string(),
  created_at: seconds,
  user: id,
  last_known_username: z.string().nullish(),
  moderator: id.nullish(),
  reason: z.string().nullish(),
  until: seconds.nullish(),
  amended_by: id.nullish(),
});

const cases = redImporter({
  from: 'ModLog',
  data: z.strictObject({
    guild: z
      .strictObject({ mod_log: z.string().nullish(), latest_case_number: z.unknown(), casetypes: z.unknown() })
      .partial()
      .prefault({}),
    custom: z.strictObject({ CASES: z.record(z.string(), caseSchema).default({}) }).prefault({}),
  }),
  async run({ guild: { mod_log, casetypes }, custom: { CASES } }, context: Context) {
    if (typeof mod_log === 'string') await choose('modlog', mod_log, `modlog channel ${mod_log}`, context);
    if (casetypes !== undefined) context.leftOut('which kinds of cases are recorded', 'all are recorded here');
    const { guildId, clock, taken, present, leftOut } = context;
    const record = createCases(context);
    const known = await importedIn(record, guildId);
    const drafts: Omit<ModerationCase, 'number'>[] = [];
    for (const one of Object.values(CASES).sort((a, b) => a.case_number - b.case_number)) {
      const key = `case ${one.case_number}`;
      const act = Object.hasOwn(ACTS, one.action_type) ? ACTS[one.action_type] : undefined;
      if (known.has(key)) present(key);
      else if (act === undefined)
        leftOut(`${key} (${one.action_type})`, 'there are no cases of voice and channels here');
      else {
        drafts.push({ ...draftOf(one, act), importedFrom: [key] });
        taken(`${key} (${one.action_type})`);
      }
    }
    const now = clock.now();
    if (drafts.length > 0)
      await record.addPast(guildId, drafts, ({ act, until = 0 }) => act === 'tempban' && until > now);
  },
});

function draftOf(
  { user, last_known_username, moderator, reason, until, created_at, amended_by }: z.output<typeof caseSchema>,
  act: ModerationAct,
): Omit<ModerationCase, 'number'> {
  return {
    act,
    state: 'done',
    at: created_at,
    origin: 'bot',
    ...(isUser(user) ? { userId: user } : {}),
    ...(last_known_username ? { userName: last_known_username } : {}),
    ...(moderator && isUser(moderator) ? { moderatorId: moderator } : {}),
    ...(reason ? { reason: reason.slice(0, LONGEST_REASON) } : {}),
    ...(until && (act === 'timeout' || act === 'tempban') ? { until } : {}),
    ...(amended_by && isUser(amended_by) ? { editedBy: amended_by } : {}),
    // Another cog stores the points of warnings.
    ...(act === 'warn' ? { points: 0 } : {}),
  };
}

/** Whether an id is a user's: for deleted users, Red stores a small number. */
const isUser = (user: string) => /^\d{15,22}$/.test(user);

/** Cases of earlier imports, by a key of their content. */
async function importedIn(
  record: ReturnType<typeof createCases>,
  guildId: string,
): Promise<ReadonlyMap<string, ModerationCase>> {
  const known = new Map<string, ModerationCase>();
  for await (const one of record.newestFirst(guildId)) for (const key of one.importedFrom ?? []) known.set(key, one);
  return known;
}

const warningSchema = z.object({ points: z.int(), description: z.string(), mod: id.nullish() });
const actionSchema = z.object({
  action_name: z.string(),
  points: z.int(),
  exceed_command: z.string().nullish(),
  drop_command: z.string().nullish(),
});

const warnings = redImporter({
  from: 'Warnings',
  data: z.strictObject({
    guild: z
      .object({ actions: z.array(actionSchema).default([]), toggle_dm: z.boolean().optional() })
      .catchall(z.unknown())
      .prefault({}),
    members: z
      .record(
        z.string(),
        z
          .object({
            warnings: z.record(z.string().regex(/^\d{1,22}$/), warningSchema).default({}),
            total_points: z.unknown(),
            status: z.unknown(),
          })
          .partial({ total_points: true, status: true }),
      )
      .default({}),
  }),
  async run({ guild: { actions, toggle_dm, ...others }, members }, context: Context) {
    if (toggle_dm !== undefined) await choose('tellMembers', toggle_dm, `toggle_dm ${toggle_dm}`, context);
    for (const [key, value] of Object.entries(others))
      context.leftOut(
        `${key} = ${JSON.stringify(value)}`,
        'moderators write the reason and the points with each warning here',
      );
    await importActions(actions, context);
    await importWarnings(
      Object.entries(members).flatMap(([userId, { warnings: given }]) =>
        Object.entries(given).map(([messageId, one]) => ({ ...one, userId, messageId })),
      ),
      context,
    );
  },
});

interface RedWarning extends z.output<typeof warningSchema> {
  readonly userId: string;
  /** The message with the command. */
  readonly messageId: string;
}

async function importWarnings(given: readonly RedWarning[], context: Context): Promise<void> {
  const { guildId, taken, present } = context;
  const record = createCases(context);
  const known = await importedIn(record, guildId);
  const used = new Set<number>();
  const drafts: Omit<ModerationCase, 'number'>[] = [];
  for (const warning of given) {
    const { userId, points, description, messageId } = warning;
    const key = `warning ${messageId}`;
    const what = `warning of ${userId}: ${description} (${points} points)`;
    if (known.has(key)) {
      present(what);
      continue;
    }
    // Red also recorded it as a case, without its points.
    const recorded = [...known.values()].find((one) => !used.has(one.number) && isRecordOf(one, warning));
    if (recorded === undefined) drafts.push(draftOfWarning(warning, key));
    else {
      used.add(recorded.number);
      await record.change(guildId, recorded.number, (draft) => {
        draft.points = points;
        draft.importedFrom = [...(draft.importedFrom ?? []), key];
      });
    }
    taken(what);
  }
  if (drafts.length > 0) await record.addPast(guildId, drafts, () => false);
}

const isRecordOf = (one: ModerationCase, { userId, description }: RedWarning): boolean =>
  one.act === 'warn' && one.userId === userId && one.points === 0 && (one.reason ?? '').includes(description);

const draftOfWarning = (
  { userId, points, description, mod, messageId }: RedWarning,
  key: string,
): Omit<ModerationCase, 'number'> => ({
  act: 'warn',
  state: 'done',
  origin: 'bot',
  at: Number(BigInt(messageId) >> 22n) + DISCORD_EPOCH,
  userId,
  points,
  reason: description.slice(0, LONGEST_REASON),
  importedFrom: [key],
  ...(mod && isUser(mod) ? { moderatorId: mod } : {}),
});

/** The first moment of snowflakes: https://docs.discord.com/developers/reference#snowflakes */
const DISCORD_EPOCH = 1_420_070_400_000;

async function importActions(actions: readonly z.output<typeof actionSchema>[], context: Context): Promise<void> {
  const wanted = actions.flatMap(({ action_name, points, exceed_command, drop_command }) => {
    const command = /^(kick|ban)\b/.exec(exceed_command ?? '')?.[1];
    const text = `${points} ${command}`;
    if (drop_command)
      context.leftOut(`command below ${points} points: ${drop_command}`, 'nothing is done here when points fall');
    if (command !== undefined && parseThreshold(text) !== undefined) return [text];
    context.leftOut(
      `action ${action_name} at ${points} points: ${exceed_command}`,
      'here it is a time-out, a kick or a ban',
    );
    return [];
  });
  if (wanted.length > 0) await choose('warnActions', wanted, `actions: ${wanted.join(', ')}`, context);
}

const mod = redImporter({
  from: 'Mod',
  data: z.strictObject({
    guild: z
      .object({
        dm_on_kickban: z.boolean().optional(),
        require_reason: z.boolean().optional(),
        default_days: z.int().min(0).max(7).optional(),
      })
      .catchall(z.unknown())
      .prefault({}),
  }),
  async run({ guild: { dm_on_kickban, require_reason, default_days, ...others } }, context: Context) {
    const told = (key: string, value: unknown) => `${key} ${String(value)}`;
    if (dm_on_kickban !== undefined)
      await choose('tellMembers', dm_on_kickban, told('dm_on_kickban', dm_on_kickban), context);
    if (require_reason !== undefined)
      await choose('requireReason', require_reason, told('require_reason', require_reason), context);
    if (default_days !== undefined)
      await choose('banDeleteDays', default_days, told('default_days', default_days), context);
    for (const [key, value] of Object.entries(others))
      context.leftOut(`${key} = ${JSON.stringify(value)}`, ELSEWHERE[key] ?? 'nothing here does the same');
  },
});

const ELSEWHERE: Readonly<Record<string, string>> = {
  current_tempbans: 'they come with the cases of the modlog',
  delete_repeats: 'automod has a rule against repetitions: set automod',
  mention_spam: 'automod has a rule against mentions: set automod',
  respect_hierarchy: 'the hierarchy of roles always counts here',
};

const choose = <K extends keyof GuildSettings>(key: K, value: GuildSettings[K], what: string, context: Context) =>
  importSetting(
    { document: context.settings.guild(context.guildId), schema: settings.guild },
    key,
    value,
    what,
    context,
  );

/** Data that can be imported from Red-DiscordBot. */
export const importers = [cases, warnings, mod];
