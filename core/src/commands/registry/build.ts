import type {
  AccessPolicy,
  CommandDefinition,
  CommandInfo,
  GroupDefinition,
  OptionShape,
  Subcommand,
  Subgroup,
} from '@cinnabar/sdk';
import type { Owner } from '../../contracts.js';
import type { Values } from '../options/bind.js';
import type { OptionSpec } from '../options/spec.js';
import { typeText } from '../options/type-text.js';
import { usageLine } from '../options/usage.js';
import { childrenByName } from './children.js';
import type { CommandEntry, Entry, GroupEntry } from './entry.js';
import { checkDescription, checkName, refuse } from './naming.js';
import { describeOptions } from './options.js';
import { combinePolicies } from './policy.js';

/** What a command inherits from the groups around it. */
interface Around {
  readonly owner: Owner;
  /** Full names under which it can be typed, the first being the one; empty at the top. */
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
      type: typeText(spec),
    })),
    examples,
    access: base.policy,
    surface: base.surface,
  };
}
