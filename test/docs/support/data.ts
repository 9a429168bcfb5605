import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDiscovery } from '@cinnabar/core';
import { loadAll } from '@cinnabar/core/internal/cli/schema';
import { hostPartSchema, parseConfigFile } from '@cinnabar/core/internal/config/host-config';
import { fileSchema } from '@cinnabar/core/internal/guild-file/content';
import { registryFileSchema } from '@cinnabar/core/internal/plugins/install/registry-file';
import { ceilingsSchema } from '@cinnabar/core/internal/storage/documents/settings';
import { operatorSentenceOf, type Plugin, readYaml, type z } from '@cinnabar/sdk';
import { readDeclared } from './declared.js';
import type { Block, Page, Problem } from './markdown.js';
import { at, BUILD_CACHE } from './pages.js';

/** An error in a block, with its line within the block, counted from 1. */
interface Complaint {
  readonly at: number;
  readonly text: string;
}
type Check = (block: Block, plugins: readonly Plugin[]) => readonly Complaint[];

/** The bundled plugins, which are not started: their schemas are those of the bot. */
export async function loadPlugins(): Promise<readonly Plugin[]> {
  const { plugins, problems } = await loadAll(
    createDiscovery({ folders: [], packageRoots: [] }),
    join(BUILD_CACHE, 'plugins'),
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return plugins;
}

/** The languages of blocks, each with its check. Languages that other files check have an empty check. */
const CHECKS: Readonly<Record<string, Check>> = {
  ts: () => [],
  console: () => [],
  sh: () => [],
  text: ofText,
  yaml: ofYaml,
  json: ofJson,
  ini: ofUnit,
  dockerfile: (block) => ofFile(block, 'Dockerfile'),
  env: ofEnvironment,
};

/** Blocks without a language, or with a language without a check, and data that the bot would refuse. */
export function wrongBlocks(page: Page, plugins: readonly Plugin[]): readonly Problem[] {
  return page.blocks.flatMap((block) => {
    const check = CHECKS[block.language];
    const complaints = check === undefined ? [{ at: 0, text: sayLanguage(block.language) }] : check(block, plugins);
    return complaints.map((one) => ({ file: page.file, line: block.line + one.at, text: one.text }));
  });
}

function sayLanguage(language: string): string {
  const known = Object.keys(CHECKS).join(', ');
  return language === ''
    ? `Say behind the fence what this is: ${known}. What the console prints is \`console\`; what something else prints is \`text\`.`
    : `Nothing checks blocks of \`${language}\`: use one of ${known}.`;
}

const CODE = /^(?:\$ \S|npm |npx |cinnabar |import .* from |export |const \w+ = |[!][a-z]+( |$))/;

function ofText({ text }: Block): readonly Complaint[] {
  const index = text.split('\n').findIndex((line) => CODE.test(line));
  if (index === -1) return [];
  const hint = 'code is `ts`, commands are `sh`, and what is said at the console is `console`';
  return [{ at: index + 1, text: `\`text\` is for what something else than the bot prints: ${hint}.` }];
}

/** The text that describes a block: its first line when that is a comment, else the text before it. */
function nameOf({ text, before }: Block): string {
  const [first = ''] = text.split('\n');
  return /^\s*(?:#|\/\/)/.test(first) ? first : before;
}

const CONFIGURATION = /\b(?:shared|(?:guilds|bots)\/[^\s`]+)\.yaml\b/;
const GUILD_FILE = /\bserver\.yaml\b/;
const COMPOSE = /\bcompose(?:\.override)?\.yaml\b/;
/** Files of other programs. */
const FOREIGN = /\b(?:prometheus|alertmanager|alerts)\.ya?ml\b/;

function ofYaml(block: Block, plugins: readonly Plugin[]): readonly Complaint[] {
  const name = nameOf(block);
  const reading = readYaml(block.text);
  if (!reading.ok) return [{ at: reading.line, text: `${reading.problem}.` }];
  if (CONFIGURATION.test(name)) return ofConfiguration(block, plugins);
  if (GUILD_FILE.test(name)) return ofGuildFile(block, plugins);
  if (COMPOSE.test(name)) return ofFile(block, 'compose.yaml');
  if (FOREIGN.test(name)) return [];
  return [
    {
      at: 1,
      text: 'Say in a first line which file this is: # config/shared.yaml, # config/guilds/{server id}.yaml, # config/bots/{bot}.yaml, # server.yaml or # compose.yaml.',
    },
  ];
}

/** Checks the host's part with the host's schema, and each plugin's part with the plugin's. */
function ofConfiguration(block: Block, plugins: readonly Plugin[]): readonly Complaint[] {
  const reading = readYaml(block.text);
  if (!reading.ok) return [];
  try {
    parseConfigFile({ path: '', source: 'the block', hostKeys: 'all' }, block.text);
  } catch (error) {
    const sentence = operatorSentenceOf(error) ?? String(error);
    return [{ at: Number(/the block:(\d+):/.exec(sentence)?.[1] ?? 0), text: sentence }];
  }
  const shapes = [hostPartSchema, ceilingsSchema, ...plugins.flatMap(({ configuration }) => configuration ?? [])];
  const known = new Map(shapes.flatMap(({ shape }) => Object.entries<z.ZodType>(shape)));
  const wrong = (path: readonly PropertyKey[], text: string): Complaint => ({
    at: reading.lineOf(path.filter((part) => typeof part !== 'symbol')),
    text,
  });
  return Object.entries(reading.values).flatMap(([key, value]) => {
    const schema = known.get(key);
    if (schema === undefined)
      return [wrong([key], `There is no key ${key} in the configuration; there are ${[...known.keys()].join(', ')}.`)];
    const issues = schema.safeParse(value).error?.issues ?? [];
    const below = key === 'settings' ? wrongSettings('global', value, plugins) : [];
    return [
      ...issues.map((issue) => wrong([key, ...issue.path], `${[key, ...issue.path].join('.')}: ${issue.message}`)),
      ...below.map(({ path, text }) => wrong([key, ...path], text)),
    ];
  });
}

function ofGuildFile(block: Block, plugins: readonly Plugin[]): readonly Complaint[] {
  const reading = readYaml(block.text);
  if (!reading.ok) return [];
  const { data, error } = fileSchema.safeParse(reading.values);
  const issues = (error?.issues ?? []).map(({ path, message }) => ({ path, text: `${path.join('.')}: ${message}` }));
  const ids = plugins.map(({ manifest }) => manifest.id);
  const unknown = Object.keys(data?.plugins ?? {})
    .filter((id) => !ids.includes(id))
    .map((id) => ({ path: ['plugins', id], text: `There is no plugin ${id}; there are ${ids.join(', ')}.` }));
  const settings = wrongSettings('guild', data?.settings ?? {}, plugins).map(({ path, text }) => ({
    path: ['settings', ...path],
    text,
  }));
  return [...issues, ...unknown, ...settings].map(({ path, text }) => ({
    at: reading.lineOf(path.filter((part) => typeof part !== 'symbol')),
    text,
  }));
}

interface Wrong {
  readonly path: readonly string[];
  readonly text: string;
}

/** Values of unknown settings, or that the schema refuses. */
function wrongSettings(scope: 'global' | 'guild', settings: unknown, plugins: readonly Plugin[]): readonly Wrong[] {
  return entriesOf(settings).flatMap(([id, values]): readonly Wrong[] => {
    const shape = plugins.find(({ manifest }) => manifest.id === id)?.settings?.[scope]?.shape;
    if (shape === undefined) return [{ path: [id], text: `No plugin ${id} has settings here.` }];
    return entriesOf(values).flatMap(([key, value]) => {
      const schema: z.ZodType | undefined = shape[key];
      if (schema === undefined)
        return [{ path: [id, key], text: `${id} has no such setting here: it has ${Object.keys(shape).join(', ')}.` }];
      return (schema.safeParse(value).error?.issues ?? []).map(({ message }) => ({
        path: [id, key],
        text: `${key} of ${id}: ${message}`,
      }));
    });
  });
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

function ofJson(block: Block): readonly Complaint[] {
  const name = nameOf(block);
  try {
    const value: unknown = JSON.parse(block.text.replace(/^\s*\/\/.*$/m, ''));
    if (!/\bregistry file\b/i.test(name)) return [];
    const issues = registryFileSchema.safeParse(value).error?.issues ?? [];
    return issues.map(({ path, message }) => ({ at: 1, text: `${path.join('.')}: ${message}` }));
  } catch (error) {
    return [{ at: 1, text: `This is no JSON: ${error instanceof Error ? error.message : String(error)}.` }];
  }
}

const UNIT = 'config/systemd/cinnabar.service';

/** Checks a part of the systemd unit, or other values for its keys when the text before says that they are changed. */
function ofUnit(block: Block): readonly Complaint[] {
  if (!/\bchange\b/i.test(block.before)) return ofFile(block, UNIT);
  const keyOf = (line: string) => line.split('=', 1)[0] ?? '';
  const keys = readFileSync(at(UNIT), 'utf8').split('\n').map(keyOf);
  return block.text
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' || keys.includes(keyOf(line))
        ? []
        : [{ at: index + 1, text: `${UNIT} has no line ${keyOf(line)}= to change.` }],
    );
}

/** Checks a part of a file of this project: its lines in order, with … for omitted lines. */
function ofFile({ text }: Block, path: string): readonly Complaint[] {
  const lines = readFileSync(at(path), 'utf8')
    .split('\n')
    .map((line) => line.trim());
  let from = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const wanted = line.trim();
    if (wanted === '' || wanted === '…' || wanted === '# …' || (index === 0 && wanted.startsWith('#'))) continue;
    const found = lines.indexOf(wanted, from);
    if (found === -1)
      return [{ at: index + 1, text: `${path} has no such line here: “${wanted}”. Copy it from there.` }];
    from = found + 1;
  }
  return [];
}

function ofEnvironment({ text }: Block): readonly Complaint[] {
  const { variables } = readDeclared();
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const name = /^([A-Z][A-Z0-9_]*)=/.exec(line)?.[1];
    if (name === undefined) return [{ at: index + 1, text: 'Write NAME=value.' }];
    return variables.has(name)
      ? []
      : [
          {
            at: index + 1,
            text: `There is no variable ${name}: docs/reference/environment.md has those that there are.`,
          },
        ];
  });
}

/** The keys of an entry of a registry file and of its versions. */
export function registryKeys(): readonly string[] {
  const { element } = registryFileSchema.shape.plugins;
  return [...Object.keys(element.shape), ...Object.keys(element.shape.versions.element.shape)];
}
