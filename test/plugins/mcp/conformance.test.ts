import { expect } from 'chai';
import { isPassed, runClientScenario, runServerScenarios, SERVER_SCENARIOS } from './conformance/scenarios.js';

/** The complete suite is `npm run campaign -- mcp-conformance`. */
describe('the official MCP conformance suite', () => {
  it('finds nothing wrong with the server, in every scenario that applies', async function () {
    this.timeout(60_000);
    const results = await runServerScenarios();
    const passed = results.filter(isPassed).map(({ scenario }) => scenario);
    expect(passed).to.have.members(SERVER_SCENARIOS);
  });

  it('finds nothing wrong with the client when it calls a tool', async function () {
    this.timeout(60_000);
    const result = await runClientScenario('tools_call');
    expect(result).to.deep.equal({ scenario: 'tools_call', checks: ['tool-add-numbers'], failures: [] });
  });
});
