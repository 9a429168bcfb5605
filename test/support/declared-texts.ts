import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import {
  type CallCard,
  type CommandDefinition,
  Commands,
  defined,
  definePlugin,
  type ErasedContext,
  type GroupDefinition,
  type Plugin,
  type Subcommand,
  type Subgroup,
  type ToolDefinition,
  Tools,
  type WebPage,
  z,
} from '@cinnabar/sdk';

const PLUGINS = fileURLToPath(new URL('../../../plugins', import.meta.url));

/** The texts that a plugin declares for people. */
export interface DeclaredTexts {
  readonly texts: ReadonlySet<string>;
  /** The texts that Discord shows in its menu of commands, with at most 100 characters. */
  readonly inMenus: ReadonlySet<string>;
}

/**
 * The declared texts of every bundled plugin, by its id: descriptions of plugins, commands, options, tools, responders, pages, settings and secrets, and the
 * texts of tools on cards.
 */
export async function declaredTexts(): Promise<ReadonlyMap<string, DeclaredTexts>> {
  const recorded = await Promise.all((await pluginFolders()).map(load));
  const cards = new Map<string, CallCard>();
  const reader = definePlugin({
    manifest: { id: 'card-reader', version: '1.0.0', description: 'Keeps the cards of calls' },
    setup({ intercept }) {
      intercept({
        name: 'card-reader',
        order: Number.MIN_SAFE_INTEGER,
        async handle({ id, tool, card }) {
          cards.set(tool.name, card);
          return { status: 'denied', callId: id, reason: 'only its card is wanted' };
        },
      });
    },
  });
  const plugins = [...recorded.map(({ plugin }) => plugin), reader];
  const host = await createTestHost({ plugins, driver: createMemoryDriver() });
  try {
    const actor = { kind: 'user', userId: host.you.id, guildId: host.guild.id, channelId: host.general.id } as const;
    const words = async (origin: string, { name, description, input }: ToolDefinition) => {
      const given = Object.fromEntries(Object.keys(input.shape).map((argument) => [argument, '']));
      await host.resolve(Tools).invoke({ name, arguments: given, actor, origin });
      const card = cards.get(name);
      if (card === undefined) throw new Error(`there was no card of ${name}`);
      return [description, card.action, ...card.fields.map(({ label }) => label)];
    };
    const direct = { ...actor, guildId: null, channelId: host.you.openDm(host.application).id };
    // Some commands are for direct messages only.
    const visible = await Promise.all([actor, direct].map((where) => host.resolve(Commands).visibleTo(where)));
    const entries = recorded.map(async ({ plugin, description, commands, definitions, responders, pages }) => {
      const { manifest, env, settings } = plugin;
      const options = visible.flat().flatMap((command) => (command.plugin === manifest.id ? command.options : []));
      const inMenus = [...commands.flatMap(descriptionsOf), ...options.map(({ description }) => description)];
      const described = [env, ...Object.values(settings)].flatMap((schema) =>
        Object.values(schema === undefined ? {} : (z.toJSONSchema(schema, ANY_SCHEMA).properties ?? {})),
      );
      const texts = [
        manifest.description,
        description,
        manifest.disabling,
        ...inMenus,
        ...commands.flatMap(helpTexts),
        ...described.flatMap((schema) => (typeof schema === 'object' ? [schema.description] : [])),
        ...responders,
        ...pages.flatMap(({ title, description }) => [title, description]),
        ...(await Promise.all(definitions.map((definition) => words(manifest.id, definition)))).flat(),
      ];
      const isText = (text: string | undefined): text is string => text !== undefined && /\p{L}/u.test(text);
      return [manifest.id, { texts: new Set(texts.filter(isText)), inMenus: new Set(inMenus) }] as const;
    });
    return new Map(await Promise.all(entries));
  } finally {
    await host[Symbol.asyncDispose]();
  }
}

/** The pages that the bundled plugins declare, each with its plugin. */
export async function declaredPages(): Promise<readonly { readonly plugin: string; readonly page: WebPage }[]> {
  const recorded = await Promise.all((await pluginFolders()).map(load));
  await using _ = await createTestHost({ plugins: recorded.map(({ plugin }) => plugin), env: { CINNABAR_WEB: '0' } });
  return recorded.flatMap(({ plugin, pages }) => pages.map((page) => ({ plugin: plugin.manifest.id, page })));
}

/** Also of fields that JSON cannot represent, before their defaults. */
const ANY_SCHEMA = { io: 'input', unrepresentable: 'any' } as const;

/** The part of package.json that `plugin list` shows for a stopped plugin. */
const packageFile = z.object({ description: z.string() });

async function pluginFolders(): Promise<readonly string[]> {
  const entries = await readdir(PLUGINS, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(PLUGINS, name));
}

type Command = CommandDefinition | GroupDefinition | Subcommand | Subgroup;

interface Recorded {
  readonly plugin: Plugin;
  readonly description: string;
  /** Set during `setup`. */
  readonly commands: Command[];
  readonly definitions: ToolDefinition[];
  readonly responders: string[];
  readonly pages: WebPage[];
}

/** A bundled plugin that records its registrations, and is on in every server. */
async function load(folder: string): Promise<Recorded> {
  const module: { readonly default: Plugin } = await import(pathToFileURL(join(folder, 'dist', 'index.js')).href);
  const { description } = packageFile.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
  const commands: Command[] = [];
  const definitions: ToolDefinition[] = [];
  const responders: string[] = [];
  const pages: WebPage[] = [];
  const setup = (context: ErasedContext) =>
    module.default.setup({
      ...context,
      command(definition) {
        commands.push(definition);
        return context.command(definition);
      },
      group(definition) {
        commands.push(definition);
        return context.group(definition);
      },
      tool(definition) {
        definitions.push(definition);
        const { name, description, present } = definition;
        // Its card is wanted for any arguments, by anyone.
        const input = z.looseObject({});
        return context.tool({ name, description, input, risk: 'read', ...defined({ present }), run: () => undefined });
      },
      responder(definition) {
        responders.push(definition.description);
        return context.responder(definition);
      },
      page(definition) {
        pages.push(definition);
        return context.page(definition);
      },
    });
  const manifest = { ...module.default.manifest, enabledByDefault: true };
  return { plugin: { ...module.default, manifest, setup }, description, commands, definitions, responders, pages };
}

function descriptionsOf(command: Command): readonly string[] {
  return [command.description, ...('commands' in command ? command.commands.flatMap(descriptionsOf) : [])];
}

function helpTexts(command: Command): readonly (string | undefined)[] {
  return [command.help, ...('commands' in command ? command.commands.flatMap(helpTexts) : [])];
}
