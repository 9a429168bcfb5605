import {
  type AccessRule,
  defined,
  type FindNamed,
  fileRuleSchema,
  formatDuration,
  issueLanguage,
  type NamedKind,
  parseDuration,
  plainIssue,
  readYaml,
  ruleForFile,
  ruleFromFile,
  type SettingType,
  TOOL_POLICIES,
  t,
  translated,
  UserError,
  writeYaml,
  z,
} from '@cinnabar/sdk';
import { accessRuleSchema } from '../access/rules.js';
import { LONGEST_PREFIX, MOST_PREFIXES } from '../gateway/guild-states.js';
import { type Field, fieldsOf, inWords } from '../storage/catalog/fields.js';
import { nearest } from '../storage/nearest.js';
import type { OpenedPlugin } from '../storage/storage.js';
import { findIn, type GuildDirectory, nameIn } from './directory.js';

const values = z.record(z.string(), z.unknown());

/** The configuration of a guild, or a part of it: the content of a file, and the stored previous state. Absent sections are not changed. */
export const contentSchema = z.object({
  plugins: z.record(z.string(), z.boolean()).optional(),
  /** `null`: the bot's default. */
  prefixes: z.array(z.string()).nullable().optional(),
  roles: z.object({ mod: z.array(z.string()), admin: z.array(z.string()) }).optional(),
  rules: z.array(accessRuleSchema).optional(),
  tools: z.record(z.string(), z.enum(TOOL_POLICIES)).optional(),
  /** By plugin and key. */
  settings: z.record(z.string(), values).optional(),
  /** By plugin, channel and key. */
  channels: z.record(z.string(), z.record(z.string(), values)).optional(),
  /** By plugin, role and key. */
  roleSettings: z.record(z.string(), z.record(z.string(), values)).optional(),
  /** By plugin: its data about the guild other than settings. */
  parts: z.record(z.string(), values).optional(),
});
export type GuildContent = z.output<typeof contentSchema>;

/** The services for reading and writing a file. */
export interface FileContext {
  readonly guildId: string;
  /** `undefined` while Discord cannot be reached. */
  readonly directory: GuildDirectory | undefined;
  /** Whether the file is for any guild. */
  readonly isTemplate: boolean;
  readonly opened: readonly OpenedPlugin[];
  /** Plugins that can be switched, and whether each can be off. */
  readonly switchable: ReadonlyMap<string, { readonly required: boolean }>;
}

const DEFAULT = 'default';
const isOn = z
  .union([z.boolean(), z.enum(['on', 'off'])], { error: 'it is on or off' })
  .transform((value) => value === true || value === 'on');
const text = z.string({ error: 'names are text, and ids stand in quotes' }).trim().min(1).max(100);
const list = <T extends z.ZodType>(of: T) =>
  z
    .array(of)
    .nullable()
    .transform((items) => items ?? []);
const record = <T extends z.ZodType>(of: T) =>
  z
    .record(z.string(), of)
    .nullable()
    .transform((entries) => entries ?? {});

const prefix = z
  .string()
  .max(LONGEST_PREFIX)
  .regex(/^(?!\/|<@)\S+$/);

/** The shape of a guild's file; `readContent` resolves the names in it. */
export const fileSchema = z.strictObject({
  server: text.optional(),
  plugins: record(isOn).optional(),
  prefixes: z
    .union([z.literal(DEFAULT), z.array(prefix).max(MOST_PREFIXES)], {
      error: 'it is default, or a list of up to 10 prefixes of 1 to 10 characters without spaces',
    })
    .optional(),
  roles: z.strictObject({ mod: list(text).default([]), admin: list(text).default([]) }).optional(),
  rules: list(fileRuleSchema).optional(),
  tools: record(z.enum(TOOL_POLICIES)).optional(),
  settings: record(record(z.unknown())).optional(),
  channels: record(record(record(z.unknown()))).optional(),
  roleSettings: record(record(record(z.unknown()))).optional(),
  parts: record(record(z.unknown())).optional(),
});

const MAX_BYTES = 500_000;
const MOST_PROBLEMS = 10;
/** Finding the line of a key reads all keys around it. */
const MOST_FOUND = 100;

/** The guild that a file names as its own. @throws UserError when it names none, or is not YAML */
export function guildOfFile(yaml: string): string {
  const reading = readYaml(yaml, { maxBytes: MAX_BYTES });
  if (!reading.ok) throw unreadable(reading);
  const { server } = reading.values;
  if (typeof server === 'string' && /^\d{15,22}$/.test(server)) return server;
  throw new UserError(t('The file has to say which server it is for, as in: server: "123456789012345678".'));
}

const unreadable = ({ line, problem }: { readonly line: number; readonly problem: string }) =>
  new UserError(t('The file cannot be read: line {line}: {problem}.', { line, problem }));

/** Called with a problem and its place in the file. */
export type Wrong = (path: readonly PropertyKey[], problem: string) => void;

/**
 * Reads a file.
 * @param check further checks
 * @throws UserError that names each line that cannot be used
 */
export async function readContent(
  yaml: string,
  context: FileContext,
  check: (content: GuildContent, wrong: Wrong) => Promise<void>,
): Promise<GuildContent> {
  const reading = readYaml(yaml, { maxBytes: MAX_BYTES });
  if (!reading.ok) throw unreadable(reading);
  const problems: Problem[] = [];
  let more = 0;
  const wrong = (path: readonly PropertyKey[], problem: string) => {
    if (problems.length === MOST_FOUND) {
      more += 1;
      return;
    }
    const key = path.filter((part) => typeof part !== 'symbol');
    problems.push({ line: reading.lineOf(key), text: `${key.length === 0 ? '' : `${key.join('.')}: `}${problem}` });
  };
  const parsed = fileSchema.safeParse(reading.values, issueLanguage());
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys) wrong([...issue.path, key], unknownKey(key, Object.keys(fileSchema.shape)));
      else wrong(issue.path, plainIssue(translated(issue.message)));
    }
    throw asError(problems, more);
  }
  const content = contentOf(parsed.data, context, wrong);
  if (problems.length === 0) await check(content, wrong);
  if (problems.length > 0) throw asError(problems, more);
  return content;
}

interface Problem {
  readonly line: number;
  readonly text: string;
}

function asError(problems: readonly Problem[], uncounted: number): UserError {
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const lines = sorted
    .slice(0, MOST_PROBLEMS)
    .map((one) => t('line {line}: {problem}', { line: one.line, problem: one.text }));
  const more = sorted.length - lines.length + uncounted;
  if (more > 0) lines.push(t('{more} more', { more }));
  return new UserError([t('The file cannot be used. Nothing has changed.'), ...lines].join('\n'));
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === undefined
    ? t('there is no such key; there are {known}', { known: known.join(', ') })
    : t('there is no such key; did you mean {meant}?', { meant });
}

function contentOf(file: z.output<typeof fileSchema>, context: FileContext, wrong: Wrong): GuildContent {
  const { guildId, directory, isTemplate, opened, switchable } = context;
  const find: FindNamed = (kind, named) =>
    isTemplate
      ? { problem: t('a file for new servers names no roles, members or channels') }
      : findIn(directory, kind, named);
  if (file.server !== undefined && file.server !== guildId && !isTemplate)
    wrong(['server'], t('the file is for another server'));
  for (const [id, on] of Object.entries(file.plugins ?? {})) {
    const known = switchable.get(id);
    if (known === undefined) wrong(['plugins', id], unknownPlugin(id, [...switchable.keys()]));
    else if (known.required && !on) wrong(['plugins', id], t('it cannot be switched off'));
  }
  const rolesOf = (tier: 'mod' | 'admin') =>
    (file.roles?.[tier] ?? []).flatMap((named, index) => {
      const found = find('role', named);
      if ('id' in found && found.id !== guildId) return found.id;
      wrong(['roles', tier, index], 'problem' in found ? found.problem : t('everyone cannot be that'));
      return [];
    });
  const rules = file.rules?.flatMap((entry, index) => {
    const rule = ruleFromFile(entry, find);
    if (!('problem' in rule)) return rule;
    wrong(['rules', index], rule.problem);
    return [];
  });
  const read = (
    scope: FileScope,
    path: readonly string[],
    given: Readonly<Record<string, unknown>>,
    plugin: OpenedPlugin,
  ) =>
    Object.fromEntries(
      Object.entries(given).flatMap(([key, value]) => {
        const fields = fieldsOf(plugin.plugin).filter((field) => field.scope === scope);
        const field = fields.find((one) => one.key === key);
        const result =
          field === undefined
            ? {
                problem: unknownKey(
                  key,
                  fields.map((one) => one.key),
                ),
              }
            : valueFromFile(field, value, find);
        if (!('problem' in result)) return [[key, result.value]];
        wrong([...path, key], result.problem);
        return [];
      }),
    );
  const pluginNamed = (section: keyof typeof SECTION_SCOPES | 'parts', id: string): OpenedPlugin | undefined => {
    const having = section === 'parts' ? withPart(opened) : withSettings(opened, SECTION_SCOPES[section]);
    const plugin = having.find((one) => one.plugin.manifest.id === id);
    if (plugin !== undefined) return plugin;
    const isKnown = switchable.has(id);
    wrong(
      [section, id],
      isKnown
        ? t('it has no such settings, or does not run')
        : unknownPlugin(
            id,
            having.map((one) => one.plugin.manifest.id),
          ),
    );
    return undefined;
  };
  const settings = Object.entries(file.settings ?? {}).flatMap(([id, given]) => {
    const plugin = pluginNamed('settings', id);
    return plugin === undefined ? [] : [[id, read('guild', ['settings', id], given, plugin)] as const];
  });
  const keptBy = (section: 'channels' | 'roleSettings') => {
    const scope = SECTION_SCOPES[section];
    const there = new Set(directory?.[scope === 'channel' ? 'channels' : 'roles'].map(({ id }) => id));
    return mappedEntries(file[section] ?? {}, (given, id) => {
      const plugin = pluginNamed(section, id);
      if (plugin === undefined) return undefined;
      return Object.fromEntries(
        Object.entries(given).flatMap(([named, keys]) => {
          const path = [section, id, named];
          const found = find(scope, named);
          if ('problem' in found) wrong(path, found.problem);
          else if (!there.has(found.id))
            wrong(path, scope === 'channel' ? t('this server has no such channel') : t('this server has no such role'));
          else return [[found.id, read(scope, path, keys, plugin)] as const];
          return [];
        }),
      );
    });
  };
  const partIn = (id: string, part: Readonly<Record<string, unknown>>) => {
    const schema = pluginNamed('parts', id)?.plugin.guildFile?.schema;
    return schema === undefined ? undefined : readPart(schema, part, find, ['parts', id], wrong);
  };
  const { plugins, prefixes, tools } = file;
  return {
    ...defined({ plugins, tools }),
    ...(prefixes === undefined ? {} : { prefixes: prefixes === DEFAULT ? null : [...new Set(prefixes)] }),
    ...(file.roles === undefined
      ? {}
      : { roles: { mod: [...new Set(rolesOf('mod'))], admin: [...new Set(rolesOf('admin'))] } }),
    // Of two entries for the same target, the later one is used, as in Discord.
    ...(rules === undefined ? {} : { rules: [...new Map(rules.map((rule) => [slotOf(rule), rule])).values()] }),
    ...(file.settings === undefined ? {} : { settings: Object.fromEntries(settings) }),
    ...(file.channels === undefined ? {} : { channels: keptBy('channels') }),
    ...(file.roleSettings === undefined ? {} : { roleSettings: keptBy('roleSettings') }),
    ...(file.parts === undefined ? {} : { parts: mappedEntries(file.parts, (part, id) => partIn(id, part)) }),
  };
}

/** The scopes of settings that have a section in a file. */
export type FileScope = 'guild' | 'channel' | 'role';
export const SECTION_SCOPES = { settings: 'guild', channels: 'channel', roleSettings: 'role' } as const;

function mappedEntries<T, U>(
  entries: Readonly<Record<string, T>>,
  change: (value: T, key: string) => U | undefined,
): Record<string, U> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([key, value]) => {
      const changed = change(value, key);
      return changed === undefined ? [] : [[key, changed] as const];
    }),
  );
}

/** A plugin's part, parsed by its schema; `undefined` when it is invalid. */
function readPart(
  schema: z.ZodObject,
  part: Readonly<Record<string, unknown>>,
  find: FindNamed,
  path: readonly string[],
  wrong: Wrong,
): Record<string, unknown> | undefined {
  const parsed = schema.safeParse(withIds(schema, part, find, path, wrong), issueLanguage());
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) wrong([...path, ...issue.path], plainIssue(translated(issue.message)));
  return undefined;
}

/** A plugin's part with ids in place of names, where its schema says that a text or a record's key is a name. */
function withIds(
  schema: z.core.$ZodType,
  given: unknown,
  find: FindNamed,
  path: readonly PropertyKey[],
  wrong: Wrong,
): unknown {
  const inner = unwrapped(schema);
  const kind = kindOf(schema) ?? kindOf(inner);
  if (kind !== undefined && typeof given === 'string') return idOf(kind, given, find, path, wrong);
  if (inner instanceof z.ZodArray && Array.isArray(given))
    return given.map((item, index) => withIds(inner.element, item, find, [...path, index], wrong));
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const entries = Object.entries(given);
  if (inner instanceof z.ZodRecord) {
    const named = kindOf(inner.keyType);
    return Object.fromEntries(
      entries.map(([key, value]) => [
        named === undefined ? key : idOf(named, key, find, [...path, key], wrong),
        withIds(inner.valueType, value, find, [...path, key], wrong),
      ]),
    );
  }
  if (!(inner instanceof z.ZodObject)) return given;
  const fields = new Map<string, z.core.$ZodType>(Object.entries(inner.shape));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      const field = fields.get(key);
      return [key, field === undefined ? value : withIds(field, value, find, [...path, key], wrong)];
    }),
  );
}

function idOf(kind: NamedKind, named: string, find: FindNamed, path: readonly PropertyKey[], wrong: Wrong): string {
  const found = find(kind, named);
  if ('id' in found) return found.id;
  wrong(path, found.problem);
  return named;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrapped(schema.unwrap())
    : schema;
}

const NAMED: readonly NamedKind[] = ['user', 'role', 'channel', 'category'];

/** The kind of object that a text names, from its `.meta({ kind })`. */
function kindOf(schema: z.core.$ZodType): NamedKind | undefined {
  const kind = schema instanceof z.ZodType ? schema.meta()?.kind : undefined;
  return kind === 'member' ? 'user' : NAMED.find((one) => one === kind);
}

function unknownPlugin(id: string, known: readonly string[]): string {
  const meant = nearest(id, known);
  return meant === undefined
    ? t('there is no such plugin')
    : t('there is no such plugin; did you mean {meant}?', { meant });
}

/** The plugins that have settings of a scope. */
export function withSettings(opened: readonly OpenedPlugin[], scope: FileScope): readonly OpenedPlugin[] {
  return opened.filter(({ plugin }) => fieldsOf(plugin).some((field) => field.scope === scope && !field.secret));
}

/** The plugins that have a section for their own data. */
export function withPart(opened: readonly OpenedPlugin[]): readonly OpenedPlugin[] {
  return opened.filter(({ plugin }) => plugin.guildFile !== undefined);
}

/** The value of a setting in a file: roles and channels also by name, durations also as `1h30m`. */
function valueFromFile(
  field: Field,
  given: unknown,
  find: FindNamed,
): { readonly value: unknown } | { readonly problem: string } {
  if (field.secret) return { problem: t('it is secret: secrets are not kept in files') };
  const read = convert(field.type, given, find);
  if ('problem' in read) return read;
  const problem = field.check(read.value);
  if (problem === undefined) return read;
  const { message, at, custom } = problem;
  if (custom || at !== '')
    return { problem: at === '' ? translated(message) : `${at}: ${plainIssue(translated(message))}` };
  return { problem: t('it has to be: {type}', { type: inWords(field.type) }) };
}

type Converted = { readonly value: unknown } | { readonly problem: string };

function convert(type: SettingType, given: unknown, find: FindNamed): Converted {
  if (type.kind === 'duration' && typeof given === 'string') return { value: parseDuration(given) ?? given };
  if (type.kind === 'mention') {
    if (typeof given !== 'string') return { problem: t('names are text, and ids stand in quotes') };
    // A name may also belong to a category.
    const kind = type.of === 'member' ? 'user' : type.of;
    const found = find(kind, given);
    const category = 'problem' in found && kind === 'channel' ? find('category', given) : found;
    if ('id' in found) return { value: found.id };
    return 'id' in category ? { value: category.id } : found;
  }
  if (type.kind === 'list' && Array.isArray(given)) {
    const items = given.map((item) => convert(type.of, item, find));
    const wrong = items.find((item) => 'problem' in item);
    return wrong ?? { value: items.flatMap((item) => ('value' in item ? [item.value] : [])) };
  }
  if (type.kind === 'either') {
    const whole = type.of.map((one) => convert(one, given, find));
    return (
      whole.find((one) => 'value' in one && one.value !== given) ??
      whole.find((one) => 'value' in one) ?? { value: given }
    );
  }
  return { value: given };
}

/** Formats a value for a reader: durations in words that `convert` can read. */
function forFile(type: SettingType, value: unknown): unknown {
  if (type.kind === 'duration' && typeof value === 'number') {
    const words = formatDuration(value);
    return parseDuration(words) === value ? words : value;
  }
  return value;
}

/** The YAML of a guild's configuration, with the names of roles and channels as comments. */
export function writeContent(content: GuildContent, { guildId, directory, opened }: FileContext): string {
  const ofPlugin = (id: string, scope: FileScope, given: Readonly<Record<string, unknown>>) => {
    const plugin = opened.find((one) => one.plugin.manifest.id === id);
    const fields = plugin === undefined ? [] : fieldsOf(plugin.plugin).filter((field) => field.scope === scope);
    return mapped(given, (value, key) => {
      const type = fields.find((field) => field.key === key)?.type;
      return type === undefined ? value : forFile(type, value);
    });
  };
  const keptBy = (scope: 'channel' | 'role', kept: NonNullable<GuildContent['channels']>) =>
    mapped(kept, (ofEach, id) => mapped(ofEach, (given) => ofPlugin(id, scope, given)));
  const { plugins, prefixes, roles, rules, tools, settings, channels, roleSettings, parts } = content;
  const file = {
    server: guildId,
    ...(plugins === undefined ? {} : { plugins: mapped(plugins, (on) => (on ? 'on' : 'off')) }),
    ...(prefixes === undefined ? {} : { prefixes: prefixes ?? DEFAULT }),
    ...(roles === undefined ? {} : { roles }),
    ...(rules === undefined ? {} : { rules: rules.map(ruleForFile) }),
    ...(tools === undefined ? {} : { tools }),
    ...(settings === undefined ? {} : { settings: mapped(settings, (given, id) => ofPlugin(id, 'guild', given)) }),
    ...(channels === undefined ? {} : { channels: keptBy('channel', channels) }),
    ...(roleSettings === undefined ? {} : { roleSettings: keptBy('role', roleSettings) }),
    ...(parts === undefined ? {} : { parts }),
  };
  return writeYaml(file, (id) =>
    id === guildId ? directory?.name : /^\d{15,22}$/.test(id) ? nameIn(directory, id) : undefined,
  );
}

function mapped<T, U>(record: Readonly<Record<string, T>>, change: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

/** The subject and target of a rule: there is one rule for each pair. */
export const slotOf = ({ target, subject }: AccessRule): string =>
  [target.kind, target.name, subject.kind, subject.id ?? ''].join('\n');
