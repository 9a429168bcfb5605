import { join } from 'node:path';
import { operatorSentenceOf, type Plugin, z } from '@cinnabar/sdk';
import { ceilingsSchema } from '../config/ceilings.js';
import type { HostConfig } from '../config/host-config.js';
import { hostPartSchema } from '../config/host-part.js';
import { createDiscovery, type Discover } from '../plugins/discovery/discovery.js';
import { createLoader } from '../plugins/loader.js';
import { HOST_VERSION } from '../version.js';

const NOTE = 'Made by `cinnabar schema`: the keys of the host and of every plugin. Do not edit.';

/** Prints the JSON Schema of the configuration files, for editors. @returns the exit code */
export async function printSchema(config: HostConfig, { stdout, stderr }: NodeJS.Process): Promise<number> {
  const { root, dataDir, buildCacheDir, pluginFolders } = config;
  const discover = createDiscovery({ folders: pluginFolders, packageRoots: [root, join(dataDir, 'plugins')] });
  const { plugins, problems } = await loadAll(discover, join(buildCacheDir, 'plugins'));
  for (const problem of problems) stderr.write(`${problem}\n`);
  stdout.write(schemaText(plugins));
  return problems.length === 0 ? 0 : 1;
}

/** Loads plugins without starting them. */
export async function loadAll(
  discover: Discover,
  cacheDir: string,
): Promise<{ readonly plugins: readonly Plugin[]; readonly problems: readonly string[] }> {
  const found = await discover();
  const loader = createLoader({ cacheDir, hostVersion: HOST_VERSION });
  const loaded = await Promise.allSettled(found.plugins.map((plugin) => loader.load(plugin)));
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

/** What belongs into `config/schema.json`. */
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
