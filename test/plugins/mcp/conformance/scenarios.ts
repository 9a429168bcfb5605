import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTestHost } from '@cinnabar/core/testing';
import { endpointOf, mintToken } from '../bearer.js';
import { startBearerProxy } from './bearer-proxy.js';
import { ordersSchema, runClient } from './client.js';
import { suiteTools } from './server-tools.js';
import { runConformance, type ScenarioResult } from './suite.js';

/** The suite's server scenarios that apply to this server. The others, each with a reason, are in CONFORMANCE.md. */
export const SERVER_SCENARIOS: readonly string[] = [
  'dns-rebinding-protection',
  'json-schema-2020-12',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-error',
  'tools-call-image',
  'tools-call-mixed-content',
  'tools-call-simple-text',
  'tools-call-with-progress',
  'tools-list',
];

export const CLIENT_SCENARIOS: readonly string[] = [
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'initialize',
  'sse-retry',
  'tools_call',
];

/** Runs every server scenario of the suite on a host with the tools that it requires. */
export async function runServerScenarios(): Promise<readonly ScenarioResult[]> {
  await using host = await createTestHost({
    plugins: ['mcp', suiteTools],
    settings: { mcp: { listen: '127.0.0.1:0', callsPerMinute: 10_000 } },
  });
  await using proxy = await startBearerProxy(await endpointOf(host), await mintToken(host));
  return await runConformance('server', ['--url', proxy.url, '--suite', 'all']);
}

/** Runs one client scenario: the process that the suite starts has a host in this one use the suite's MCP server. */
export async function runClientScenario(scenario: string): Promise<ScenarioResult | undefined> {
  const server = createServer(async (request, response) => {
    const isDone = await json(request)
      .then((orders) => runClient(ordersSchema.parse(orders)))
      .then(
        () => true,
        () => false,
      );
    response.writeHead(isDone ? 204 : 500).end();
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const messenger = fileURLToPath(new URL('./messenger.js', import.meta.url));
    const command = `${process.execPath} ${messenger} http://127.0.0.1:${port}/`;
    const [result] = await runConformance('client', ['--command', command], scenario);
    return result;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export function isPassed(result: ScenarioResult | undefined): boolean {
  return result !== undefined && result.checks.length > 0 && result.failures.length === 0;
}
