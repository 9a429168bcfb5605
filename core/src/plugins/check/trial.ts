import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type CollectionDefinition,
  type CommandInfo,
  Commands,
  type Manifest,
  operatorSentenceOf,
  type Plugin,
  type ToolInfo,
  Tools,
  z,
} from '@cinnabar/sdk';
import type { ClientEvents } from 'discord.js';
import type { Owner } from '../../contracts.js';
import { missingIntent } from '../../gateway/discord-sync.js';
import type { Host } from '../../host.js';
import { fieldsOf } from '../../storage/catalog/fields.js';
import { fieldNamed, inner } from '../../storage/personal-data.js';
import { HOST_VERSION } from '../../version.js';
import { createDiscovery, type DiscoveredPlugin } from '../discovery.js';
import { type BuiltPlugins, createLoader } from '../loader.js';
import { better, type Sought, wrong } from './findings.js';
import { createVersions, startTrialHost, type TrialHost, type Versions } from './trial-host.js';

export interface TrialTask {
  readonly found: DiscoveredPlugin;
  readonly buildCacheDir: string;
  /** The number of reloads to see whether old versions stay in memory; 0: none. */
  readonly reloads: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders of other plugins that are loaded, too. */
  readonly beside: readonly string[];
}

export interface TrialResult {
  readonly findings: readonly Sought[];
  /** Texts for people that are declared without a call of `t`. */
  readonly declared: readonly string[];
  readonly version: string;
}

interface TrialOptions {
  /** Bundled plugins that were built ahead, unless they are the one that is tried. */
  readonly builtPlugins?: BuiltPlugins;
  /** Called once everything runs. */
  readonly onReady?: () => Promise<void>;
}

/** Loads a plugin in the real host together with the bundled ones, checks what it registers, and reloads it. */
export async function tryPlugin(
  task: TrialTask,
  onStep: (step: string) => void,
  options: TrialOptions = {},
): Promise<TrialResult> {
  const { found, buildCacheDir } = task;
  const loader = createLoader({ cacheDir: join(buildCacheDir, 'plugins'), hostVersion: HOST_VERSION });
  let plugin: Plugin;
  try {
    plugin = await loader.load(found, { verify: true });
  } catch (error) {
    return { findings: [wrong('load', sentence(error))], declared: [], version: found.version };
  }
  const declared = declarationFindings(plugin, found);
  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-check-'));
  try {
    const tried = await tryRunning(plugin, task, dataDir, onStep, options);
    return {
      findings: [...declared, ...tried.findings],
      declared: [...declaredTexts(plugin), ...tried.declared],
      version: plugin.manifest.version,
    };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const sentence = (error: unknown) =>
  operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error));

function declarationFindings(plugin: Plugin, found: DiscoveredPlugin): readonly Sought[] {
  const { id, version } = plugin.manifest;
  const findings: Sought[] = [];
  if (id !== found.id)
    findings.push(
      wrong('id', `its manifest says "${id}", and by its package it is "${found.id}": make them the same`, {
        seek: `'${id}'`,
      }),
    );
  if (version !== found.version)
    findings.push(
      better('version', `its manifest says ${version}, and its package.json ${found.version}: make them the same`, {
        seek: `'${version}'`,
      }),
    );
  for (const [name, collection] of Object.entries(plugin.collections ?? {})) {
    const field = fieldOfUnnamedGuild(collection);
    if (field !== undefined)
      findings.push(
        better(
          'guild',
          `the documents of the collection "${name}" have "${field}", and no guildId at the top: where a bot runs in several processes, one of them gets all as its own, and does not see the servers of the others. Add guildId: z.string().nullable() (null in direct messages), or the actor; say shared: true where every process needs all of them, shared: false where none takes them as its work`,
          { seek: `${name}:` },
        ),
      );
  }
  for (const { key, scope, description, type } of fieldsOf(plugin)) {
    if (description === '')
      findings.push(
        better('description', `the ${scope} setting "${key}" says nothing of itself: add .describe('…')`, {
          seek: `${key}:`,
        }),
      );
    const [kind] = type.kind === 'text' ? (/channel|role|member|user/i.exec(key) ?? []) : [];
    if (kind !== undefined)
      findings.push(
        better(
          'kind',
          `the ${scope} setting "${key}" is a text: where it is an id, add .meta({ kind: '${kind.toLowerCase()}' }), so that admins can choose by name`,
          { seek: `${key}:` },
        ),
      );
  }
  return findings;
}

const declaredTexts = (plugin: Plugin): readonly string[] => [
  plugin.manifest.description,
  ...(plugin.manifest.disabling === undefined ? [] : [plugin.manifest.disabling]),
  ...fieldsOf(plugin).map(({ description }) => description),
  ...Object.values(plugin.env?.shape ?? {}).flatMap((schema) => z.globalRegistry.get(schema)?.description ?? []),
];

interface Tried {
  readonly findings: readonly Sought[];
  readonly declared: readonly string[];
}

async function tryRunning(
  plugin: Plugin,
  task: TrialTask,
  dataDir: string,
  onStep: (step: string) => void,
  { builtPlugins, onReady }: TrialOptions,
): Promise<Tried> {
  const { found, buildCacheDir } = task;
  const { id } = plugin.manifest;
  const discover = createDiscovery({ folders: task.beside, packageRoots: [found.path] });
  const others = (await discover()).plugins.filter(({ path, id: other }) => path !== found.path && other !== id);
  await using trial = await startTrialHost({
    dataDir,
    buildCacheDir,
    root: found.path,
    pluginFolders: [found.path, ...task.beside],
    only: others.map((other) => other.id),
    env: Object.fromEntries(Object.keys(plugin.env?.shape ?? {}).map((name) => [name, task.env[name]])),
    ...(builtPlugins === undefined ? {} : { builtPlugins: without(builtPlugins, found) }),
  });
  const { host } = trial;
  const before = listenersOf(host);
  try {
    await host.plugins.load(found.path);
  } catch (error) {
    const text = sentence(error);
    // Only a warning: variables that a plugin requires are not set on every machine.
    const finding = /environment variable/.test(text)
      ? better('not-tried', `it was not tried, since ${text}: set it for this command, too`)
      : wrong('start', text);
    return { findings: [finding], declared: [] };
  }
  const info = host.plugins.list().find((one) => one.id === id);
  // `registrations` returns copies: a reference to the owner would keep the first version in memory.
  const registered = await registrations(trial, id);
  if (registered === undefined) {
    const text = `it was not tried, since it waits: ${info?.problem ?? 'something that it needs is missing'}. Where another plugin provides that, name its folder: --with FOLDER`;
    return { findings: [better('not-tried', text)], declared: [] };
  }
  await onReady?.();
  const leaks = task.reloads === 0 ? [] : await leakFindings(trial, id, task.reloads, onStep);
  const left = await host.plugins.unload(id).then(
    ({ leftovers }) =>
      leftovers.map((what) =>
        wrong('bare-timer', `${what}, was left behind: use \`after\` and \`every\` of the setup context`),
      ),
    // Rejects for a plugin that is required for administration.
    () => [],
  );
  const listeners = [...listenersOf(host)]
    .filter(([name, count]) => count > (before.get(name) ?? 0) && info !== undefined && ownerOf(host, id) === undefined)
    .filter(([name]) => !registered.events.some((event) => name === `client.on('${event}')`))
    .map(([name]) =>
      wrong('listener', `${name} goes on when the plugin is stopped: use \`on(…)\`, or take it back in \`defer(…)\``),
    );
  return {
    findings: [...registered.findings, ...leaks, ...left, ...listeners],
    declared: registered.declared,
  };
}

/** The bundles that were built in advance, without that of the plugin under trial, which is built from its current source. */
const without = ({ files, onChange }: BuiltPlugins, { entry }: DiscoveredPlugin): BuiltPlugins => ({
  files: new Map([...files].filter(([one]) => one !== entry)),
  onChange,
});

const ownerOf = (host: Host, id: string): Owner | undefined => host.plugins.owners().find((one) => one.id === id);

/** Number of listeners on objects that live longer than a plugin. */
function listenersOf({ client }: Host): ReadonlyMap<string, number> {
  const named = [
    ['client', client],
    ['process', process],
  ] as const;
  return new Map(
    named.flatMap(([name, emitter]) =>
      emitter.eventNames().map((event) => [`${name}.on('${String(event)}')`, emitter.listenerCount(event)] as const),
    ),
  );
}

interface Registered extends Tried {
  readonly events: readonly string[];
}

/** @returns `undefined` when the plugin does not run */
async function registrations({ host, owner: asking }: TrialHost, id: string): Promise<Registered | undefined> {
  const owner = ownerOf(host, id);
  if (owner === undefined) return undefined;
  const { plugin, scope } = owner;
  const events = [...new Set(scope.effects.flatMap((label) => /^listener (\w+)$/.exec(label)?.[1] ?? []))];
  const tools = host.resolve(Tools).list();
  const visible = await host.resolve(Commands).visibleTo(asking);
  const commands = visible.filter((command) => command.plugin === id);
  const own = tools.filter((tool) => tool.plugin === id);
  return {
    events,
    findings: [
      ...events.flatMap((event) => intentFindings(event, plugin.manifest)),
      ...commands.flatMap((command) => commandFindings(command, plugin.manifest)),
      ...own.flatMap((tool) => toolFindings(tool, plugin.manifest)),
      ...duplicateExamples(own, tools),
    ],
    declared: commands.flatMap(({ description, help, options }) => [
      description,
      ...(help === undefined ? [] : [help]),
      ...options.map((option) => option.description),
    ]),
  };
}

const isEvent = (name: string): name is keyof ClientEvents => name !== '';

function intentFindings(event: string, manifest: Manifest): readonly Sought[] {
  const missing = isEvent(event) ? missingIntent(event, manifest) : undefined;
  return missing === undefined ? [] : [wrong('intent', missing, { seek: `'${event}'` })];
}

function commandFindings({ name, access, options }: CommandInfo, manifest: Manifest): readonly Sought[] {
  return [
    ...permissionFindings(`the command "${name}"`, access.bot, manifest, name),
    ...options
      .filter(({ description }) => description === '')
      .map((option) =>
        better('description', `the option "${option.name}" of "${name}" says nothing of itself: describe it`, {
          seek: `${option.name}:`,
        }),
      ),
  ];
}

function toolFindings({ name, access, examples }: ToolInfo, manifest: Manifest): readonly Sought[] {
  const seek = `'${name}'`;
  return [
    ...permissionFindings(`the tool "${name}"`, access.bot, manifest, name),
    ...(examples.length > 0
      ? []
      : [
          better(
            'examples',
            `the tool "${name}" has no examples: add what people say, examples: ['roll {count} dice']`,
            {
              seek,
            },
          ),
        ]),
  ];
}

function permissionFindings(
  what: string,
  needed: readonly string[] = [],
  { permissions = [] }: Manifest,
  name: string,
): readonly Sought[] {
  const missing = needed.filter((one) => !permissions.some((declared) => declared === one));
  if (missing.length === 0) return [];
  const line = `permissions: [${[...permissions, ...missing].map((one) => `'${one}'`).join(', ')}]`;
  return [
    better('permission', `${what} needs ${missing.join(', ')}, which its manifest lacks: add ${line}`, {
      seek: `'${name.split(' ').at(-1)}'`,
    }),
  ];
}

function duplicateExamples(own: readonly ToolInfo[], all: readonly ToolInfo[]): readonly Sought[] {
  const plain = (example: string) => example.toLowerCase().replace(/\s+/g, ' ').trim();
  const seen = new Map<string, string>();
  const mine = new Set(own.map(({ name }) => name));
  for (const { name, examples } of all)
    if (!mine.has(name)) for (const example of examples) seen.set(plain(example), name);
  return own.flatMap(({ name, examples }) =>
    examples.flatMap((example) => {
      const other = seen.get(plain(example));
      seen.set(plain(example), name);
      if (other === undefined) return [];
      const whose = other === name ? 'twice' : `also of the tool "${other}"`;
      return [
        better('examples', `the example "${example}" of "${name}" is there ${whose}: write another`, { seek: example }),
      ];
    }),
  );
}

/** Interval of progress reports, in reloads. */
const STEP = 20;

async function leakFindings(
  { host }: TrialHost,
  id: string,
  reloads: number,
  onStep: (step: string) => void,
): Promise<readonly Sought[]> {
  const versions = createVersions(garbageCollection());
  const effects = ownerOf(host, id)?.scope.effects.join(', ');
  versions.note(host.plugins.owners());
  for (let count = 1; count <= reloads; count += 1) {
    try {
      await host.plugins.reload(id);
    } catch (error) {
      return [wrong('reload', `it could not be reloaded (reload ${count}): ${sentence(error)}`)];
    }
    versions.note(host.plugins.owners());
    if (count % STEP === 0) onStep(`reloaded ${count} of ${reloads} times`);
  }
  await host.idle();
  const now = ownerOf(host, id)?.scope.effects.join(', ');
  const changed =
    now === effects
      ? []
      : [
          wrong(
            'reload',
            `after ${reloads} reloads it has registered other things (${now}) than at first (${effects}): register the same in every \`setup\``,
          ),
        ];
  return [...changed, ...(await leaked(versions, id, reloads))];
}

/** Makes V8's `gc` available. Not by an option of the process, with which V8 would refuse the code cache of a process without it. */
function garbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

async function leaked(versions: Versions, id: string, reloads: number): Promise<readonly Sought[]> {
  const alive = (await versions.alive(1)).get(id) ?? 0;
  if (alive <= 1) return [];
  return [
    wrong(
      'leak',
      `it leaks: after ${reloads} reloads, ${alive - 1} old versions of it are still in memory. Something that lives longer holds them: take back in \`defer(…)\` what \`setup\` adds to globalThis, process, the client or a module of another package, and use \`on\`, \`every\` and \`after\` in place of client.on and Node's timers`,
    ),
  ];
}

/** Names of fields that contain ids of guilds, or of objects in a guild. */
const IN_GUILDS = /(?:guild|server|channel|thread|role|message)_?ids?$/i;

/**
 * The field with an id of an object in a guild, in documents that do not name their guild: in a cluster, all of them belong to the process of data without a
 * guild.
 * `undefined` when the scope, a `guildId` or `actor`, or `shared` determines their guild.
 */
function fieldOfUnnamedGuild({ scope, schema, shared }: CollectionDefinition): string | undefined {
  if (shared !== undefined || (scope !== 'global' && scope !== 'user' && scope !== 'message')) return undefined;
  const actor = inner(schema.shape.actor);
  const named = actor instanceof z.ZodObject ? { ...actor.shape, ...schema.shape } : schema.shape;
  return 'guildId' in named ? undefined : fieldNamed(schema, IN_GUILDS);
}
