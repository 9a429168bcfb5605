/** What the conformance suite runs as a client: a whole host, whose only MCP server is the suite's own. `argv[2]` is its address. */
import { createTestHost } from '@cinnabar/core/testing';
import { Tools } from '@cinnabar/sdk';

/** The tool to call in a scenario, with what to call it with. */
const CALLS: Readonly<Record<string, readonly [tool: string, input: Readonly<Record<string, unknown>>]>> = {
  tools_call: ['suite_add_numbers', { a: 5, b: 3 }],
  'sse-retry': ['suite_test_reconnection', {}],
  'elicitation-sep1034-client-defaults': ['suite_test_client_elicitation_defaults', {}],
};

await using host = await createTestHost({
  plugins: ['mcp'],
  settings: { mcp: { servers: { suite: { url: process.argv[2] ?? '', tier: 'everyone' } } } },
});
host.you.say(host.general, '!mcp tools');
await host.settled();

const [name, input] = CALLS[process.env.MCP_CONFORMANCE_SCENARIO ?? ''] ?? [];
if (name !== undefined) {
  const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
  const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
