import {
  type Access,
  type AccessPolicy,
  type Actor,
  CinnabarError,
  type CommandContext,
  type CommandDefinition,
  type CommandInfo,
  type Cooldown,
  type Decision,
  type Disposer,
  defined,
  type GroupDefinition,
  type OptionShape,
  type Subcommand,
  type Subgroup,
  stricterTier,
  type Withheld,
} from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';
import type { Owner } from '../contracts.js';
import type { Values } from './arguments.js';
import { describeOption, type OptionSpec, typeText, usageLine } from './options.js';

export type Registry = ReturnType<typeof createRegistry>;

/** Every registered command and group. Each is registered in its owner's scope and removed with it. */
export function createRegistry() {
  const byName = new Map<string, Entry>();
  const roots = new Set<Entry>();
  /** The former owners of removed commands: the plugin's id by name. */
  const former = new Map<string, string>();
  let listed: readonly Entry[] | undefined;
  let flat: readonly CommandEntry[] | undefined;

  const forget = () => {
    listed = undefined;
    flat = undefined;
  };
  const remove = (entry: Entry) => {
    if (!roots.delete(entry)) return;
    forget();
    for (const key of keysOf(entry)) {
      byName.delete(key);
      former.set(key, entry.owner.id);
    }
  };

  return {
    /** @throws CINNABAR_NAME_TAKEN, CINNABAR_SCOPE_CLOSED */
    add(entry: Entry): Disposer {
      const taken = keysOf(entry).find((key) => byName.has(key));
      const holder = taken === undefined ? undefined : byName.get(taken);
      if (taken !== undefined && holder !== undefined) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'command', name: taken, plugin: holder.owner.id });
      }
      const dispose = entry.owner.scope.add(`${entry.kind} ${entry.name}`, () => remove(entry));
      roots.add(entry);
      forget();
      for (const key of keysOf(entry)) byName.set(key, entry);
      return dispose;
    },
    /** By name or alias. */
    find: (name: string): Entry | undefined => byName.get(name),
    /** The plugin that owned a removed command, by full name or alias. */
    formerOwner: (name: string): string | undefined => former.get(name.split(' ')[0] ?? name),
    /** Names and aliases in use. */
    names: (): Iterable<string> => byName.keys(),
    /** Top-level commands and groups in the order of registration. The array stays the same until one is added or removed. */
    roots(): readonly Entry[] {
      listed ??= [...roots];
      return listed;
    },
    /** All commands, also those in groups. The array is kept like that of `roots`, since a list of a user's servers reads it for each of thousands. */
    leaves(): readonly CommandEntry[] {
      flat ??= [...roots].flatMap(leavesOf);
      return flat;
    },
  };
}

function keysOf(entry: Entry): readonly string[] {
  return [...new Set([entry.key, ...entry.aliases])];
}

/** The properties that a command inherits from the groups that contain it. */
interface Around {
  readonly owner: Owner;
  /** Full names under which it can be typed, its main name first; empty at the top. */
  readonly paths: readonly string[];
  readonly policy: AccessPolicy;
  readonly surface: Entry['surface'];
}

/** @throws CINNABAR_NAME_INVALID with what is wrong with the declaration */
export function buildCommand(owner: Owner, definition: CommandDefinition): CommandEntry {
  return command(top(owner), definition);
}

/** @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN when two of its commands have one name */
export function buildGroup(owner: Owner, definition: GroupDefinition): GroupEntry {
  return group(top(owner), definition);
}

function top(owner: Owner): Around {
  return { owner, paths: [''], policy: {}, surface: 'both' };
}

function group(around: Around, definition: GroupDefinition | Subgroup): GroupEntry {
  const { base, paths } = describe('group', around, definition);
  if (definition.commands.length === 0) refuse('group', base.name, 'it has no commands');
  const inside: Around = { owner: around.owner, paths, policy: base.policy, surface: base.surface };
  const children = definition.commands.map((child) => build(inside, child));
  return { kind: 'group', ...base, children, byName: childrenByName(around.owner, base.name, children) };
}

function build(around: Around, child: Subcommand | Subgroup): Entry {
  return child.kind === 'group' ? group(around, child) : command(around, child);
}

function command(around: Around, definition: CommandDefinition | Subcommand): CommandEntry {
  const { base, paths } = describe('command', around, definition);
  const options: OptionShape = definition.options ?? {};
  const specs = describeOptions(base.name, options);
  return {
    kind: 'command',
    ...base,
    specs,
    info: infoOf(around.owner, base, paths.slice(1), specs, definition.examples ?? []),
    cooldown: definition.cooldown,
    ephemeral: definition.ephemeral ?? false,
    audited: definition.audited ?? false,
    reads: definition.reads ?? false,
    withheld: definition.withheld ?? false,
    run: (context, values: Values) => definition.run(context, values),
  };
}

type Declared = CommandDefinition | GroupDefinition | Subcommand | Subgroup;

type Base = Omit<GroupEntry, 'kind' | 'children' | 'byName'>;

function describe(kind: string, around: Around, definition: Declared): { base: Base; paths: readonly string[] } {
  const keys = [definition.name, ...(definition.aliases ?? [])];
  const paths = keys.flatMap((key) => around.paths.map((path) => (path === '' ? key : `${path} ${key}`)));
  const [name = definition.name] = paths;
  for (const key of keys) checkName(kind, key);
  checkDescription(kind, name, definition.description);
  const base: Base = {
    owner: around.owner,
    key: definition.name,
    aliases: definition.aliases ?? [],
    name,
    description: definition.description,
    help: definition.help,
    policy: combinePolicies(around.policy, definition.access ?? {}, name),
    surface: narrower(around.surface, definition.surface ?? 'both', name),
  };
  return { base, paths };
}

function narrower(outer: Entry['surface'], inner: Entry['surface'], name: string): Entry['surface'] {
  if (outer === 'both' || inner === outer) return inner;
  if (inner === 'both') return outer;
  return refuse('command', name, `its surface is ${inner}, inside a group whose surface is ${outer}`);
}

function infoOf(
  owner: Owner,
  base: Base,
  aliases: readonly string[],
  specs: readonly OptionSpec[],
  examples: readonly string[],
): CommandInfo {
  return {
    plugin: owner.id,
    name: base.name,
    aliases,
    description: base.description,
    ...(base.help === undefined ? {} : { help: base.help }),
    usage: usageLine(specs),
    options: specs.map((spec) => ({
      name: spec.name,
      description: spec.description,
      required: spec.required,
      // A getter, since the text is in the language of the reader.
      get type() {
        return typeText(spec);
      },
    })),
    examples,
    access: base.policy,
    surface: base.surface,
  };
}

interface EntryBase {
  readonly owner: Owner;
  /** Its last word: `list` of `plugin list`. */
  readonly key: string;
  readonly aliases: readonly string[];
  /** Full name, `plugin list`. */
  readonly name: string;
  readonly description: string;
  readonly help: string | undefined;
  /** Its own policy combined with those of the groups that contain it. */
  readonly policy: AccessPolicy;
  readonly surface: 'both' | 'prefix' | 'slash';
}

/** A command that can be run. */
export interface CommandEntry extends EntryBase {
  readonly kind: 'command';
  readonly specs: readonly OptionSpec[];
  readonly info: CommandInfo;
  readonly cooldown: Cooldown | undefined;
  readonly ephemeral: boolean;
  /** Whether the audit records each use, even of a command for all members. */
  readonly audited: boolean;
  readonly withheld: boolean | Withheld;
  /** Whether the command only reads, or a function of its arguments that returns this. */
  readonly reads: NonNullable<CommandDefinition['reads']>;
  /** Created by members of one guild: monitoring counts it under its plugin. */
  readonly isOfGuild?: boolean;
  readonly run: (context: CommandContext, options: Values) => unknown;
}

/** A group of commands. */
export interface GroupEntry extends EntryBase {
  readonly kind: 'group';
  readonly children: readonly Entry[];
  /** Children by name and alias. */
  readonly byName: ReadonlyMap<string, Entry>;
}

export type Entry = CommandEntry | GroupEntry;

/** The commands below an entry, in the order of their declaration. */
export function leavesOf(entry: Entry): readonly CommandEntry[] {
  return entry.kind === 'command' ? [entry] : entry.children.flatMap(leavesOf);
}

/**
 * The commands of a group by name and alias.
 * @throws CINNABAR_NAME_TAKEN when two of them share one
 */
function childrenByName(owner: Owner, group: string, children: readonly Entry[]): ReadonlyMap<string, Entry> {
  const byName = new Map<string, Entry>();
  for (const child of children) {
    for (const key of [child.key, ...child.aliases]) {
      if (byName.has(key)) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', {
          kind: 'command',
          name: `${group} ${key}`,
          plugin: owner.id,
        });
      }
      byName.set(key, child);
    }
  }
  return byName;
}

/** https://discord.com/developers/docs/interactions/application-commands#application-command-object-application-command-naming */
const NAME = /^[-_\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

const MAX_DESCRIPTION = 100;

/** @throws CINNABAR_NAME_INVALID always, with what is wrong */
function refuse(kind: string, name: string, detail: string): never {
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind, name, detail });
}

/** @throws CINNABAR_NAME_INVALID unless Discord accepts the name for a command or option */
function checkName(kind: string, name: string, shown = name): void {
  if (!NAME.test(name)) refuse(kind, shown, 'use 1 to 32 letters, digits, `-` and `_`');
  if (name !== name.toLowerCase()) refuse(kind, shown, `use lower case: \`${name.toLowerCase()}\``);
}

/** @throws CINNABAR_NAME_INVALID unless the description has 1 to 100 characters */
function checkDescription(kind: string, name: string, description: string): void {
  const { length } = description;
  if (length === 0) refuse(kind, name, 'its description is empty');
  if (length > MAX_DESCRIPTION) {
    refuse(kind, name, `its description has ${length} characters, and Discord allows ${MAX_DESCRIPTION}`);
  }
}

/**
 * The options of one command, checked.
 * @param command full name, for the messages
 * @throws CINNABAR_NAME_INVALID with the option and what is wrong with it
 */
export function describeOptions(command: string, shape: OptionShape): readonly OptionSpec[] {
  const specs = Object.entries(shape).map(([name, schema]) => {
    const shown = `${command} ${name}`;
    checkName('option', name, shown);
    const spec = describeOption(name, schema);
    if (spec === undefined) {
      return refuse('option', shown, 'a member cannot type such a value; use text, numbers, choices or `option.…`');
    }
    checkDescription('option', shown, spec.description);
    return spec;
  });
  if (specs.length > MAX_OPTIONS) {
    refuse('command', command, `it has ${specs.length} options, and Discord allows ${MAX_OPTIONS}`);
  }
  checkOrder(command, specs);
  return specs;
}

function checkOrder(command: string, specs: readonly OptionSpec[]): void {
  let optional: OptionSpec | undefined;
  for (const [index, spec] of specs.entries()) {
    const shown = `${command} ${spec.name}`;
    if (spec.required && optional !== undefined) {
      refuse('option', shown, `it is required but comes after the optional \`${optional.name}\``);
    }
    if (spec.kind === 'rest' && index < specs.length - 1) {
      refuse('option', shown, 'it takes the rest of the message, so it must come last');
    }
    if (!spec.required) optional ??= spec;
  }
}

/**
 * Combines the policies of a group and a command in it: everything that either requires.
 * @throws CINNABAR_NAME_INVALID when one is for servers only and the other for direct messages only
 */
function combinePolicies(outer: AccessPolicy, inner: AccessPolicy, name: string): AccessPolicy {
  const where = combinePlaces(outer.where ?? 'anywhere', inner.where ?? 'anywhere', name);
  const member = union(outer.member, inner.member);
  const bot = union(outer.bot, inner.bot);
  const tier = stricterTier(outer.tier ?? 'everyone', inner.tier ?? 'everyone');
  const dmTier = stricterTier(outer.dmTier ?? outer.tier ?? 'everyone', inner.dmTier ?? inner.tier ?? 'everyone');
  return {
    ...(dmTier === tier ? {} : { dmTier }),
    ...(tier === 'everyone' ? {} : { tier }),
    ...defined({ tierFrom: bothTiers(outer.tierFrom, inner.tierFrom) }),
    ...(member.length === 0 ? {} : { member }),
    ...(bot.length === 0 ? {} : { bot }),
    ...(where === 'anywhere' ? {} : { where }),
  };
}

/** The tiers that settings require for a group and for a command in it: the stricter of both. */
function bothTiers(outer: AccessPolicy['tierFrom'], inner: AccessPolicy['tierFrom']): AccessPolicy['tierFrom'] {
  if (outer === undefined || inner === undefined) return inner ?? outer;
  return async (actor) => {
    const [one, other] = await Promise.all([outer(actor), inner(actor)]);
    return one === 'nobody' || other === 'nobody' ? 'nobody' : stricterTier(one, other);
  };
}

type Place = NonNullable<AccessPolicy['where']>;

function combinePlaces(outer: Place, inner: Place, name: string): Place {
  if (outer === 'anywhere') return inner;
  if (inner === 'anywhere' || inner === outer) return outer;
  return refuse('command', name, `it is for ${inner} only, inside a group that is for ${outer} only`);
}

function union<T>(one: readonly T[] = [], other: readonly T[] = []): readonly T[] {
  return [...new Set([...one, ...other])];
}

/** Options of a command, commands of a group, choices of an option. */
export const MAX_OPTIONS = 25;

/** Maximum distance between a name and the typed text: one mistake in three characters, two at most. */
function tolerance(typed: string): number {
  return Math.min(2, Math.floor(typed.length / 3));
}

/** The names that `typed` may mean, the nearest first. Names whose length differs too much are not compared. */
export function nearest(typed: string, names: Iterable<string>): readonly string[] {
  const folded = typed.toLowerCase();
  const bound = tolerance(folded);
  if (bound === 0) return [];
  const near: { readonly name: string; readonly away: number }[] = [];
  for (const name of names) {
    if (Math.abs(name.length - folded.length) > bound) continue;
    const away = slips(folded, name.toLowerCase());
    if (away > 0 && away <= bound) near.push({ name, away });
  }
  return near.sort((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}

/** The edit distance of two words; two swapped letters count as one. */
function slips(typed: string, name: string): number {
  const edits = distance(typed, name);
  return edits === 2 && sorted(typed) === sorted(name) ? 1 : edits;
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

/** The commands that the actor may run there, and the last refusal. */
export async function visibleAmong(
  access: Access,
  actor: Actor,
  commands: readonly CommandEntry[],
): Promise<{ readonly visible: readonly CommandEntry[]; readonly refusal: Decision | undefined }> {
  const decided = await decideEach(access.decide, actor, commands);
  return {
    visible: decided.filter(({ decision }) => decision.allowed).map(({ command }) => command),
    refusal: decided.findLast(({ decision }) => !decision.allowed)?.decision,
  };
}

/** Which of the commands the actor may run there, each with its reasons. */
export function decideEach(decide: Access['decide'], actor: Actor, commands: readonly CommandEntry[]) {
  return Promise.all(
    commands.map(async (command) => ({
      command,
      decision: await decide(actor, {
        kind: 'command',
        name: command.name,
        plugin: command.owner.id,
        policy: command.policy,
      }),
    })),
  );
}
