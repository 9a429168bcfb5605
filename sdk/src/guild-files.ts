import { z } from 'zod';
import { type AccessRule, type Actor, EVERYTHING, RULE_TARGETS } from './access.js';
import type { Clock } from './clock.js';
import type { CollectionDefinitions, Collections } from './collections.js';
import { UserError } from './errors.js';
import type { Logger } from './observability.js';
import type { Configuration, Settings, SettingsSchemas } from './settings.js';
import { t } from './text/language.js';
import { visible } from './text/untrusted.js';
import { readYaml, writeYaml } from './text/yaml.js';
import { defineToken } from './token.js';

/** The context of a plugin's section in the file of a guild. The bot need not run: there is neither a client nor services. */
export interface GuildFileContext<S extends SettingsSchemas, C extends CollectionDefinitions> {
  readonly guildId: string;
  readonly settings: Settings<S>;
  readonly collections: Collections<C>;
  /** The values that the bot's owner has written in the configuration files. */
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Why a section cannot be applied, at a place of it: `{ at: ['roles'], problem: 'at most 25 roles can have a limit' }`. */
export interface GuildFileProblem {
  readonly at: readonly string[];
  readonly problem: string;
}

/** A plugin's section in the file of a guild, as `guildFilePart` makes it. */
export interface GuildFilePart<S extends SettingsSchemas, C extends CollectionDefinitions> {
  readonly schema: z.ZodObject;
  read(context: GuildFileContext<S, C>): Promise<object>;
  problemsOf(value: object, context: GuildFileContext<S, C>): Promise<readonly GuildFileProblem[]>;
  write(value: object, context: GuildFileContext<S, C>): Promise<void>;
}

/** A section with erased types: the host builds its context from the plugin's own declarations. */
export interface ErasedGuildFilePart {
  readonly schema: z.ZodObject;
  read(context: ErasedGuildFileContext): Promise<object>;
  problemsOf(value: object, context: ErasedGuildFileContext): Promise<readonly GuildFileProblem[]>;
  write(value: object, context: ErasedGuildFileContext): Promise<void>;
}

export interface ErasedGuildFileContext
  extends Pick<GuildFileContext<never, never>, 'guildId' | 'configuration' | 'clock' | 'log'> {
  readonly settings: object;
  readonly collections: object;
}

/**
 * Declares a plugin's data about a guild other than settings as a section of the guild's file, `parts.<plugin>`: exported, planned, applied all or nothing with
 * the rest, and undone. `write` stores exactly the given value, and changes nothing when it is repeated; `read` returns the admins' choices, without those of
 * the bot's owner. Plain JSON; no secrets. Texts, and keys of records, that are ids of roles, channels or users are marked with `.meta({ kind: 'role' })`: a
 * file may contain their names.
 * @example
 * type Context = GuildFileContext<typeof settings, typeof collections>;
 * const limitsOfFile = guildFilePart({
 *   schema: z.strictObject({ limits: z.record(z.string().meta({ kind: 'role' }), z.number()).default({}) }),
 *   read: async ({ guildId, collections }: Context) => ({ limits: (await collections.limits.of(guildId).get()).byRole }),
 *   async write({ limits }, { guildId, collections }: Context) {
 *     await collections.limits.of(guildId).set({ byRole: limits });
 *   },
 * });
 */
export function guildFilePart<
  D extends z.ZodObject,
  S extends SettingsSchemas,
  C extends CollectionDefinitions,
>(definition: {
  readonly schema: D;
  read(context: GuildFileContext<S, C>): Promise<z.input<D>>;
  /** Checks that the schema does not include: limits, the owner's maximums. */
  problemsOf?(value: z.output<D>, context: GuildFileContext<S, C>): Promise<readonly GuildFileProblem[]>;
  write(value: z.output<D>, context: GuildFileContext<S, C>): Promise<void>;
}): GuildFilePart<S, C> {
  const { schema, read, problemsOf, write } = definition;
  return {
    schema,
    read,
    problemsOf: async (value, context) => (await problemsOf?.(schema.parse(value), context)) ?? [],
    write: (value, context) => write(schema.parse(value), context),
  };
}

/** One thing that a file of a guild adds, changes or removes. */
export interface GuildFileDifference {
  readonly kind: 'added' | 'changed' | 'removed';
  /** Its path in the file: `settings.chat.history`. */
  readonly what: string;
  /** The values as text, with the names of roles and channels; empty where there is none. */
  readonly before: string;
  readonly after: string;
}

/** The changes that a file would make in a guild. */
export interface GuildFilePlan {
  readonly differences: readonly GuildFileDifference[];
  /** Warnings before it is applied, as sentences. */
  readonly notes: readonly string[];
  /**
   * Applies it, all or nothing, with one entry in the audit; the previous state is kept for `planUndo`.
   * @throws UserError when something has changed since it was planned, or it cannot be saved; then nothing is applied
   */
  apply(actor: Actor): Promise<void>;
}

/**
 * Everything that can be chosen for a guild as one YAML file: plugins, prefixes, roles, access rules, tool policies, the settings of all plugins and what else
 * they declare (`guildFilePart`). A section that is missing in the file is not changed; a section in the file is complete: values that are missing in it are
 * reset to the default. In `settings`, `channels`, `roleSettings` and `parts` each plugin has a separate section. Secrets are neither written nor read.
 */
export interface GuildFiles {
  export(guildId: string): Promise<string>;
  /** @throws UserError that names each line that cannot be used */
  plan(guildId: string, text: string, actor: Actor, options?: GuildFileOptions): Promise<GuildFilePlan>;
  /** The state before the last applied file; `undefined` when none was applied. */
  planUndo(guildId: string): Promise<GuildFilePlan | undefined>;
}
export const GuildFiles = defineToken<GuildFiles>('cinnabar.guild-files');

export interface GuildFileOptions {
  /** Whether the file is for any guild: the guild of its export is not checked, and it may name no roles, members or channels. */
  readonly template?: boolean;
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

/** A difference as a line: `~ settings.chat.history: 40 → 80`. */
export function lineOfDifference({ kind, what, before, after }: GuildFileDifference): string {
  const values = [before, after].filter((text) => text !== '').join(' → ');
  // Values and names are untrusted text: none may look like another line.
  return visible(`${SIGNS[kind]} ${what}${values === '' ? '' : `: ${values}`}`);
}

/** The subjects of a guild's own rules. */
const SUBJECTS = [
  'user',
  'role',
  'channel',
  'category',
  'everyone',
] as const satisfies readonly AccessRule['subject']['kind'][];

const name = z.string().trim().toLowerCase().min(1).max(150);
/** In YAML an unquoted id is a number, which loses digits. */
const subject = z.string({ error: 'names are text, and ids stand in quotes' }).trim().min(1).max(100);

/** A rule in a file: its effect, one of `everything`, `plugin`, `command` and `tool`, and one of `user`, `role`, `channel`, `category` and `everyone`. */
export const fileRuleSchema = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  everything: z.literal(true).optional(),
  plugin: name.optional(),
  command: name.optional(),
  tool: name.optional(),
  user: subject.optional(),
  role: subject.optional(),
  channel: subject.optional(),
  category: subject.optional(),
  everyone: z.literal(true).optional(),
});
type FileRule = z.output<typeof fileRuleSchema>;

/** A problem in a file, as a clause. */
export interface FileProblem {
  readonly problem: string;
}

/** Finds a user, role, channel or category by its name in a file. */
export type FindNamed = (kind: NamedKind, text: string) => { readonly id: string } | FileProblem;
export type NamedKind = 'user' | 'role' | 'channel' | 'category';

/** Accepts ids only. */
const findById: FindNamed = (_kind, text) =>
  /^\d{15,22}$/.test(text) ? { id: text } : { problem: t('an id has 15 to 22 digits') };

/** Parses a file's entry as a rule. */
export function ruleFromFile(rule: FileRule, find: FindNamed): AccessRule | FileProblem {
  const targets = RULE_TARGETS.filter((kind) => rule[kind] !== undefined);
  const subjects = SUBJECTS.filter((kind) => rule[kind] !== undefined);
  const [kind] = targets;
  const [whose] = subjects;
  const named = kind === 'everything' ? EVERYTHING.name : kind && rule[kind];
  if (kind === undefined || named === undefined || targets.length > 1)
    return { problem: t('a rule names one of {kinds}', { kinds: RULE_TARGETS.join(', ') }) };
  if (whose === undefined || subjects.length > 1)
    return { problem: t('a rule names one of {kinds}', { kinds: SUBJECTS.join(', ') }) };
  const target = { kind, name: named };
  if (whose === 'everyone') return { effect: rule.effect, target, subject: { kind: whose } };
  const found = find(whose, rule[whose] ?? '');
  return 'problem' in found ? found : { effect: rule.effect, target, subject: { kind: whose, id: found.id } };
}

/** A rule as a file's entry. */
export function ruleForFile({ effect, target, subject: { kind, id } }: AccessRule): FileRule {
  return {
    effect,
    ...(target.kind === 'everything' ? { everything: true } : { [target.kind]: target.name }),
    ...(kind === 'everyone' ? { everyone: true } : { [kind]: id }),
  };
}

/**
 * The access rules of a guild as a YAML file.
 * @param nameOf the present name of an id, for a comment
 */
export function writeRules(rules: readonly AccessRule[], nameOf: (id: string) => string | undefined): string {
  return writeYaml({ rules: rules.map(ruleForFile) }, nameOf);
}

const file = z.strictObject({ rules: z.array(fileRuleSchema) });

/** @throws UserError that names the line and what is wrong with it */
export function readRules(text: string): readonly AccessRule[] {
  const reading = readYaml(text, { maxBytes: 100_000 });
  if (!reading.ok) {
    const { line, problem } = reading;
    throw new UserError(t('The file cannot be read: line {line}: {problem}. Nothing has changed.', { line, problem }));
  }
  const wrong = (path: readonly PropertyKey[], problem: string) => {
    const line = reading.lineOf(path.filter((part) => typeof part !== 'symbol'));
    return new UserError(t('The file cannot be used: line {line}: {problem}. Nothing has changed.', { line, problem }));
  };
  const parsed = file.safeParse(reading.values);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(issue?.path ?? [], issue?.message ?? t('it is not a list of rules'));
  }
  return parsed.data.rules.map((entry, index) => {
    const rule = ruleFromFile(entry, findById);
    if ('problem' in rule) throw wrong(['rules', index], rule.problem);
    return rule;
  });
}
