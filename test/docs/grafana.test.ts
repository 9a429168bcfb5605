import { readFileSync } from 'node:fs';
import { createTestHost } from '@cinnabar/core/testing';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { metricsOfMember } from '../support/cluster-process.js';
import { at } from './support/pages.js';

const NAME = /\b(?:cinnabar|process|nodejs)_[a-z0-9_]+/g;
const dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
});

/** The metrics of a host with the plugins that publish some. */
async function published(): Promise<ReadonlySet<string>> {
  const plugins = ['admin', 'ai', 'accounts', 'chat', 'confirm', 'llm', 'mcp', 'persona', 'relay', 'tasks'];
  await using host = await createTestHost({ plugins, monitoring: true, printErrors: false });
  const text = `${await (await fetch(`${host.monitoringUrl}/metrics`)).text()}\n${await metricsOfMember()}`;
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

describe('the dashboard for Grafana', () => {
  it('asks only for metrics that there are', async () => {
    const { panels } = dashboard.parse(JSON.parse(readFileSync(at('config/grafana/cinnabar.json'), 'utf8')));
    const names = await published();
    const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(NAME) ?? []));
    expect(asked).to.include('cinnabar_commands_total');
    const ofCluster = [...names].filter((name) => name.startsWith('cinnabar_cluster_'));
    expect(asked).to.include.members(ofCluster.length > 0 ? ofCluster : ['the metrics of a cluster']);
    expect([...new Set(asked)].filter((name) => !names.has(name))).to.deep.equal([]);
  });
});
