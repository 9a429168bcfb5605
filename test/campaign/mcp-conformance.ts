import {
  CLIENT_SCENARIOS,
  isPassed,
  runClientScenario,
  runServerScenarios,
  SERVER_SCENARIOS,
} from '../plugins/mcp/conformance/scenarios.js';
import type { ScenarioResult } from '../plugins/mcp/conformance/suite.js';
import type { CampaignOptions, CampaignResult } from './main.js';

/** Runs the official MCP conformance suite on the client and the server of the plugin `mcp`: every scenario that applies to them. */
export async function mcpConformanceCampaign({ log }: CampaignOptions): Promise<CampaignResult> {
  const server = await runServerScenarios();
  const applying = server.filter(({ scenario }) => SERVER_SCENARIOS.includes(scenario));
  log(`server: ${applying.filter(isPassed).length} of ${SERVER_SCENARIOS.length} scenarios pass`);
  const client: (readonly [string, ScenarioResult | undefined])[] = [];
  for (const scenario of CLIENT_SCENARIOS) client.push([scenario, await runClientScenario(scenario)]);
  log(`client: ${client.filter(([, result]) => isPassed(result)).length} of ${CLIENT_SCENARIOS.length} scenarios pass`);
  const found = [...applying.map((result) => [`server ${result.scenario}`, result] as const), ...client];
  const missing = SERVER_SCENARIOS.filter((name) => !applying.some(({ scenario }) => scenario === name));
  // A passing scenario that is listed as not applicable has to be moved to the list of applicable ones.
  const unlisted = server.filter((result) => isPassed(result) && !applying.includes(result));
  return {
    counts: {
      'server scenarios': applying.length,
      'client scenarios': client.length,
      checks: found.reduce((sum, [, result]) => sum + (result?.checks.length ?? 0), 0),
      'server scenarios that do not apply': server.length - applying.length,
    },
    violations: [
      ...missing.map((scenario) => `the suite has no server scenario ${scenario}`),
      ...unlisted.map(({ scenario }) => `server ${scenario} passes, but is listed as not applying`),
      ...found
        .filter(([, result]) => !isPassed(result))
        .map(([name, result]) => `${name}: ${result?.failures.join('; ')}`),
    ],
  };
}
