import { fileURLToPath } from 'node:url';
import { createTestHost } from '@cinnabar/core/testing';
import { endpointOf, mintToken } from '../bearer.js';
import { startBearerProxy } from './bearer-proxy.js';
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

/** Runs one client scenario: the suite starts a host with the suite's MCP server. */
export async function runClientScenario(scenario: string): Promise<ScenarioResult | undefined> {
  const client = fileURLToPath(new URL('./client.js', import.meta.url));
  const [result] = await runConformance('client', ['--command', `${process.execPath} ${client}`], scenario);
  return result;
}

export function isPassed(result: ScenarioResult | undefined): boolean {
  return result !== undefined && result.checks.length > 0 && result.failures.length === 0;
}
