import { join, resolve } from 'node:path';
import { operatorSentenceOf, type Plugin, replaceFile, z } from '@cinnabar/sdk';
import { type HostConfig, hostPartSchema } from '../config/host-config.js';
import { type Discover, discoveryOf } from '../plugins/discovery.js';
import { createDefinitionPool, createLoader } from '../plugins/loader.js';
import { ceilingsSchema } from '../storage/documents/settings.js';
import { HOST_VERSION } from '../version.js';
import type { Terminal } from './command-line.js';

const NOTE = 'Made by `cinnabar schema`: the keys of the host and of every plugin. Do not edit.';

/**
 * Prints the JSON Schema of the configuration files, for editors, or replaces a file with it. The file is replaced only when all plugins could be read, and in
 * one step: a shell's `>` would empty it first.
 * @returns the exit code
 */
export async function printSchema(
  config: HostConfig,
  file: string | undefined,
  { stdout, stderr, cwd }: Terminal,
): Promise<number> {
  const discover = discoveryOf(config);
  const { plugins, problems } = await loadAll(discover, join(config.buildCacheDir, 'plugins'));
  for (const problem of problems) stderr.write(`${problem}\n`);
  if (problems.length > 0) {
    if (file !== undefined) stderr.write(`${file} stays as it is.\n`);
    return 1;
  }
  const text = schemaText(plugins);
  if (file === undefined) stdout.write(text);
  else await replaceFile(resolve(cwd(), file), text, { mode: 0o644 });
  return 0;
}

/** The definitions of bundled plugins that `loadAll` has made in this process, for a host or another command in it. */
export const definitions = createDefinitionPool();

/** Loads plugins without starting them. */
export async function loadAll(
  discover: Discover,
  cacheDir: string,
): Promise<{ readonly plugins: readonly Plugin[]; readonly problems: readonly string[] }> {
  const found = await discover();
  const borrowed = definitions.borrow();
  const loader = createLoader({ cacheDir, hostVersion: HOST_VERSION, ...borrowed });
  const loaded = await Promise.allSettled(found.plugins.map((plugin) => loader.load(plugin)));
  borrowed.giveBack();
  return {
    plugins: loaded.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    problems: [
      ...found.problems.map(({ message }) => message),
      ...loaded.flatMap((one) =>
        one.status === 'rejected' ? [operatorSentenceOf(one.reason) ?? String(one.reason)] : [],
      ),
    ],
  };
}

/** The content of `config/schema.json`. */
export function schemaText(plugins: readonly Plugin[]): string {
  const parts = [...plugins]
    .sort((one, other) => (one.manifest.id < other.manifest.id ? -1 : 1))
    .flatMap(({ configuration }) => (configuration === undefined ? [] : [configuration]));
  const properties = Object.assign(
    {},
    ...[hostPartSchema, ceilingsSchema, ...parts].map((part) => jsonSchemaOf(part).properties),
  );
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: NOTE,
    title: 'Configuration of Cinnabar',
    type: 'object',
    properties,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function jsonSchemaOf(schema: z.ZodObject): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}
