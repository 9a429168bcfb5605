import { readdirSync } from 'node:fs';
import type { CollectionDefinition, Plugin } from '@cinnabar/sdk';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';

const PLUGINS = new URL('../../../plugins/', import.meta.url);
/** Names of fields that contain ids of users. */
const USER = /(?:user|author|member|speaker|person|owner)_?ids?$|^(?:addedBy|askedBy|createdBy|decidedBy|answers)$/i;

/** Maps with a description of their keys, none of which are ids of users. */
const KEYS_OF_MAPS: Readonly<Record<string, string>> = {
  'accounts.guildAccounts.days': 'days',
  'accounts.guildAccounts.channels.tokens': 'channels',
  'accounts.channelAccounts.days': 'days',
  'accounts.channelAccounts.channels.tokens': 'channels',
  'accounts.guildBudgets.roles': 'roles',
  'mcp.listings.tools.inputSchema': 'keywords of JSON Schema',
  'mcp.listings.pins': 'tools',
  'mcp.listings.pending.inputSchema': 'keywords of JSON Schema',
  'relay.rosters.agents': 'agents',
  'relay.rosters.modes': 'channels',
};

type Node = z.core.JSONSchema._JSONSchema;

/** The parts of a document that may identify a user: fields by their name, and unknown maps. */
function* peopleIn(node: Node, path: string): Iterable<string> {
  if (typeof node === 'boolean') return;
  for (const [key, value] of Object.entries(node.properties ?? {})) {
    if (USER.test(key)) yield `${path}.${key}`;
    yield* peopleIn(value, `${path}.${key}`);
  }
  const { additionalProperties: values, items = [] } = node;
  if (typeof values === 'object' && Object.keys(values).length > 0) {
    if (KEYS_OF_MAPS[path] === undefined) yield `${path}, a map`;
    yield* peopleIn(values, path);
  }
  for (const one of [items].flat()) yield* peopleIn(one, path);
  for (const one of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) yield* peopleIn(one, path);
}

function undeclared(plugin: Plugin): readonly string[] {
  return Object.entries(plugin.collections).flatMap(
    ([name, { scope, personal, schema }]: [string, CollectionDefinition]) => {
      if (scope === 'user' || scope === 'member' || personal !== undefined) return [];
      const json: Node = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });
      return [...peopleIn(json, `${plugin.manifest.id}.${name}`)];
    },
  );
}

describe('security: every collection of a bundled plugin', () => {
  it('that holds ids of users declares whose its documents are, or that the plugin handles them', async () => {
    const found: string[] = [];
    let collections = 0;
    for (const folder of readdirSync(PLUGINS)) {
      const { default: plugin }: { readonly default: Plugin } = await import(
        new URL(`${folder}/dist/index.js`, PLUGINS).href
      );
      collections += Object.keys(plugin.collections).length;
      found.push(...undeclared(plugin));
    }
    expect(found).to.deep.equal([]);
    expect(collections).to.be.greaterThan(20);
  });
});
