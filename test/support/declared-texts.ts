import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeOptions } from '@cinnabar/core/internal/commands/registry';
import { fieldsOf } from '@cinnabar/core/internal/storage/catalog/fields';
import { renderCard } from '@cinnabar/core/internal/tools/presentation';
import { createTestHost } from '@cinnabar/core/testing';
import {
  type CommandDefinition,
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
  const host = await createTestHost({ plugins: recorded.map(({ plugin }) => plugin) });
  try {
    const tools = host.resolve(Tools).list();
    const actor = { kind: 'user', userId: host.you.id, guildId: host.guild.id, channelId: host.general.id } as const;
    const words = async (definition: ToolDefinition) => {
      const info = tools.find(({ name }) => name === definition.name);
      if (info === undefined) return [];
      const all = Object.keys(z.record(z.string(), z.unknown()).parse(info.inputSchema.properties ?? {}));
      const given = Object.fromEntries(all.map((name) => [name, '']));
      const card = await renderCard(info, definition, given, actor, (text) => text);
      return [definition.description, card.action, ...card.fields.map(({ label }) => label)];
    };
    const entries = recorded.map(async ({ plugin, description, commands, definitions, responders, pages }) => {
      const { manifest, env } = plugin;
      const inMenus = commands.flatMap(menuTexts);
      const secrets = Object.values(env?.shape ?? {}).map((schema) => z.globalRegistry.get(schema)?.description);
      const texts = [
        manifest.description,
        description,
        manifest.disabling,
        ...inMenus,
        ...commands.flatMap(helpTexts),
        ...fieldsOf(plugin).map(({ description }) => description),
        ...secrets,
        ...responders,
        ...pages.flatMap(({ title, description }) => [title, description]),
        ...(await Promise.all(definitions.map(words))).flat(),
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

/** A bundled plugin that records its registrations. */
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
        return context.tool(definition);
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
  return { plugin: { ...module.default, setup }, description, commands, definitions, responders, pages };
}

function menuTexts(command: Command): readonly string[] {
  if ('commands' in command) return [command.description, ...command.commands.flatMap(menuTexts)];
  const options = describeOptions(command.name, command.options ?? {});
  return [command.description, ...options.map(({ description }) => description)];
}

function helpTexts(command: Command): readonly (string | undefined)[] {
  return [command.help, ...('commands' in command ? command.commands.flatMap(helpTexts) : [])];
}
