/**
 * The process that the conformance suite starts as its client: it hands the suite's orders to the client in the process of the test, at `argv[2]`, and ends when
 * they are carried out. `argv[3]` is the address of the suite's server.
 */
const [, , client = '', url = ''] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context } = process.env;
const { ok } = await fetch(client, { method: 'POST', body: JSON.stringify({ url, scenario, context }) });
if (!ok) process.exitCode = 1;

export {};
