import { join, resolve } from 'node:path';
import {
  type AccessPolicy,
  type CommandInfo,
  Commands,
  makeFolder,
  type Plugin,
  permissionName,
  replaceFile,
  type SettingScope,
  type Tier,
  type ToolInfo,
  Tools,
  z,
} from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { hostEnvironment } from '../config/load.js';
import { createDiscovery } from '../plugins/discovery.js';
import { type Field, type FieldSchema, fieldsOf, fieldTypeOf, inWords } from '../storage/catalog/fields.js';
import { createTestHost } from '../testing/test-host.js';
import type { Terminal } from './command-line.js';
import { loadAll, schemaText } from './schema.js';

/** The command that makes the reference pages of this project again, after a declaration has changed. */
const NOTE = '<!-- Made by `npx cinnabar reference docs/reference` from the declarations. Do not edit. -->';

/**
 * Writes the reference pages of the host and of every plugin that it finds, as Markdown, into a folder. The plugins are started on a local Discord, with
 * temporary data.
 * @returns the exit code
 */
export async function writeReference(
  { root, dataDir, buildCacheDir, pluginFolders }: HostConfig,
  folder: string | undefined,
  { stdout, stderr, cwd }: Terminal,
): Promise<number> {
  if (folder === undefined) {
    stderr.write('Name the folder for the pages: cinnabar reference DIR.\n');
    return 1;
  }
  const discover = createDiscovery({ folders: pluginFolders, packageRoots: [root, join(dataDir, 'plugins')] });
  const { plugins, problems } = await loadAll(discover, join(buildCacheDir, 'plugins'));
  for (const problem of problems) stderr.write(`${problem}\n`);
  if (problems.length > 0) return 1;
  const pages = await referencePages(plugins);
  const path = resolve(cwd(), folder);
  await makeFolder(path);
  for (const [name, text] of pages) await replaceFile(join(path, name), text, { mode: 0o644 });
  stdout.write(`${folder}: ${[...pages.keys()].join(', ')}\n`);
  return 0;
}

/** The text of each page by file name. */
async function referencePages(plugins: readonly Plugin[]): Promise<ReadonlyMap<string, string>> {
  const sorted = [...plugins].sort((one, other) => (one.manifest.id < other.manifest.id ? -1 : 1));
  const { commands, tools } = await registered(sorted);
  const of = <T extends { readonly plugin: string }>(all: readonly T[], { manifest }: Plugin) =>
    all.filter(({ plugin }) => plugin === manifest.id);
  return new Map([
    ['commands.md', commandsPage(sorted.map((plugin) => [plugin, of(commands, plugin)]))],
    ['settings.md', settingsPage(sorted)],
    ['tools.md', toolsPage(sorted.map((plugin) => [plugin, of(tools, plugin)]))],
    ['environment.md', environmentPage(sorted)],
    ['configuration.md', configurationPage(sorted)],
  ]);
}

/** The registrations of the plugins during their setup. */
async function registered(plugins: readonly Plugin[]) {
  const host = await createTestHost({ plugins, logLevel: 'error' });
  try {
    const directory = host.resolve(Commands);
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const roots = directory.names().filter((name) => !name.includes(' '));
    const explained = await Promise.all(roots.map((name) => directory.explain(actor, name)));
    const commands = new Map(explained.flat().map(({ command }) => [command.name, command]));
    return { commands: [...commands.values()], tools: host.resolve(Tools).list() };
  } finally {
    await host[Symbol.asyncDispose]();
  }
}

type ByPlugin<T> = readonly (readonly [Plugin, readonly T[]])[];

function commandsPage(parts: ByPlugin<CommandInfo>): string {
  return page(
    'Commands',
    'Every command of the plugins that come with Cinnabar, with the prefix `!`. `<…>` has to be given, `[…]` may be left out. `!help NAME` explains one where it is typed.',
    parts.flatMap(([plugin, commands]) =>
      section(
        plugin,
        table(
          ['typed', 'slash', 'does', 'who'],
          commands.map(({ name, usage, surface, description, aliases, access }) => [
            surface === 'slash' ? '' : code(`!${name}${usage === '' ? '' : ` ${usage}`}`),
            surface === 'prefix' ? '' : code(`/${name}`),
            text(description) + (aliases.length === 0 ? '' : ` (also ${aliases.map((one) => code(one)).join(', ')})`),
            whoMay(access),
          ]),
        ),
      ),
    ),
  );
}

const PLACES: Readonly<Record<SettingScope, string>> = {
  global: 'bot',
  guild: 'server',
  channel: 'channel',
  role: 'role',
  user: 'member',
  member: 'member in a server',
};

function settingsPage(plugins: readonly Plugin[]): string {
  return page(
    'Settings',
    'What `!set PLUGIN KEY VALUE` and `!settings PLUGIN` change. Settings of the bot are changed by its owner; those of a server, a channel or a role by admins; a member’s own by the member. `!set PLUGIN` shows what holds now, and where the owner of the bot has set a lower limit.',
    plugins.flatMap((plugin) =>
      section(
        plugin,
        table(
          ['key', 'of', 'takes', 'default', 'is'],
          fieldsOf(plugin).map((field) => [
            code(field.key),
            PLACES[field.scope],
            text(field.words()) + limits(field),
            field.secret ? 'not set' : byDefault(field.default),
            text(field.description),
          ]),
        ),
      ),
    ),
  );
}

function limits({ ceiling, noLimit }: Field): string {
  return [
    ...(ceiling === undefined ? [] : [`at most ${ceiling}, unless the owner of the bot says otherwise`]),
    ...(noLimit === undefined ? [] : [`${noLimit} is no limit`]),
  ]
    .map((words) => `; ${words}`)
    .join('');
}

function byDefault(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'string') return value === '' ? 'empty' : code(value);
  if (Array.isArray(value) && value.length === 0) return 'empty';
  return code(JSON.stringify(value));
}

function toolsPage(parts: ByPlugin<ToolInfo>): string {
  return page(
    'Tools',
    'What models can ask for on behalf of a member, who never gets further than the member could. What reads runs at once where nothing speaks against it; what writes or destroys waits for a 👍, as the server’s policy says (`!tool policy`).',
    parts.flatMap(([plugin, tools]) => section(plugin, tools.map(toolEntry).join('\n'))),
  );
}

/** The part of an object's JSON Schema that the pages show. */
const objectSchema = z.object({
  properties: z
    .record(
      z.string(),
      z.custom<FieldSchema>((value) => typeof value === 'object'),
    )
    .default({}),
  required: z.array(z.string()).default([]),
});

function toolEntry({ name, description, risk, access, examples, inputSchema }: ToolInfo): string {
  const { properties, required } = objectSchema.parse(inputSchema);
  const input = Object.entries(properties).map(([key, schema]) => [
    code(key),
    text(inWords(fieldTypeOf(schema))),
    required.includes(key) ? 'yes' : '',
    text(schema.description ?? ''),
  ]);
  return [
    `### ${name}\n`,
    `${text(description)}\n`,
    `Risk: **${risk}**. Who: ${whoMay(access)}.${examples.length === 0 ? '' : ` Examples: ${examples.map((one) => `“${text(one)}”`).join(', ')}.`}\n`,
    input.length === 0 ? 'It takes nothing.\n' : table(['argument', 'takes', 'required', 'is'], input),
  ].join('\n');
}

function environmentPage(plugins: readonly Plugin[]): string {
  return page(
    'Environment variables',
    'Read from the environment or from `.env` (with `--bot NAME` also `.env.NAME`); the environment comes first. A secret of a plugin can be set with `/secrets` instead. What a variable is not set to, or is empty, counts as not set.',
    [
      `## The host\n\n${variables(hostEnvironment.shape)}`,
      ...plugins.flatMap((plugin) => section(plugin, variables(plugin.env?.shape ?? {}))),
    ],
  );
}

function variables(shape: z.ZodRawShape): string {
  return table(
    ['variable', 'is'],
    Object.entries(shape).map(([name, schema]) => {
      const { description, secret } = z.globalRegistry.get(schema) ?? {};
      return [code(name), `${text(description ?? '')}${secret === true ? ' Secret.' : ''}`];
    }),
  );
}

function configurationPage(plugins: readonly Plugin[]): string {
  const { properties } = objectSchema.parse(JSON.parse(schemaText(plugins)));
  return page(
    'Configuration keys',
    'The keys of the YAML files below `config/`. Files, from the widest to the narrowest: `shared.yaml`, `guilds/{server id}.yaml`, `bots/{bot}.yaml`, `bots/{bot}-{server id}.yaml`; the narrower one wins, key by key.',
    [
      table(
        ['key', 'takes', 'is'],
        Object.entries(properties)
          .flatMap(([key, schema]) => keysBelow(key, schema))
          .map(([key, schema]) => [code(key), text(inWords(fieldTypeOf(schema))), text(schema.description ?? '')]),
      ),
    ],
  );
}

/** A key with the keys below it, where they have names. */
function keysBelow(key: string, schema: FieldSchema): readonly (readonly [string, FieldSchema])[] {
  const { properties } = objectSchema.parse(schema);
  return [[key, schema], ...Object.entries(properties).flatMap(([name, below]) => keysBelow(`${key}.${name}`, below))];
}

const TIERS_IN_WORDS: Readonly<Record<Tier, string>> = {
  everyone: 'everyone',
  mod: 'moderators',
  admin: 'admins',
  guildOwner: 'owner of the server',
  botOwner: 'owner of the bot',
};

function whoMay({ tier = 'everyone', member = [], where }: AccessPolicy): string {
  const permissions = member.map(permissionName).join(', ');
  return [
    TIERS_IN_WORDS[tier],
    ...(permissions === '' ? [] : [`with ${permissions}`]),
    ...(where === 'guild' ? ['in a server'] : where === 'dm' ? ['in a direct message'] : []),
  ].join(' ');
}

function page(title: string, introduction: string, sections: readonly string[]): string {
  return `# ${title}\n\n${NOTE}\n\n${introduction}\n\n${sections.join('\n')}`;
}

/** Empty for a plugin that declares nothing of this kind. */
function section({ manifest }: Plugin, body: string): readonly string[] {
  return body === '' ? [] : [`## ${manifest.id}\n\n${text(manifest.description)}.\n\n${body}`];
}

/** Empty without rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [head, head.map(() => '---'), ...rows].map(line).join('');
}

/** Escapes plain text for Markdown that a template engine processes. */
const text = (plain: string) =>
  plain
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '&#123;{')
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/(?<![\w`])\*(?=\S)/g, '\\*');

const code = (words: string) => `\`${words.replaceAll('`', 'ˋ').replaceAll('|', '\\|')}\``;
