import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll, schemaText } from '@cinnabar/core/internal/cli/schema';
import { createDiscovery } from '@cinnabar/core/internal/plugins/discovery/discovery';
import { definePlugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('the JSON Schema of the configuration files', () => {
  it('has the host’s keys and those that plugins declare, with their descriptions', () => {
    const plugin = definePlugin({
      manifest: { id: 'weather', version: '1.0.0', description: 'Weather' },
      configuration: z.object({ city: z.string().describe('Where it rains').default('Oslo') }),
      setup: () => undefined,
    });
    const { properties } = JSON.parse(schemaText([plugin]));
    expect(properties).to.include.keys('host', 'settings');
    expect(properties.city).to.deep.equal({ type: 'string', description: 'Where it rains', default: 'Oslo' });
  });

  it('in config/ is that of the bundled plugins; when it is not: npx cinnabar schema > config/schema.json', async () => {
    using folder = makeFolder();
    const discover = createDiscovery({ folders: [], packageRoots: [] });
    const { plugins, problems } = await loadAll(discover, folder.path);
    expect(problems).to.deep.equal([]);
    expect(JSON.parse(readFileSync(join('config', 'schema.json'), 'utf8'))).to.deep.equal(
      JSON.parse(schemaText(plugins)),
    );
  });
});
