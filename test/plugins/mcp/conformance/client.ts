/** The client for the conformance suite: a whole host whose only MCP server is the suite's. `argv[2]` is its address. */
import { createTestHost } from '@cinnabar/core/testing';
import { Tools, z } from '@cinnabar/sdk';

/** The suite's data about the client's registration, in scenarios about authorization. */
const contextSchema = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  private_key_pem: z.string().optional(),
});

/** The tool call of a scenario. */
const CALLS: Readonly<Record<string, readonly [tool: string, input: Readonly<Record<string, unknown>>]>> = {
  tools_call: ['suite_add_numbers', { a: 5, b: 3 }],
  'sse-retry': ['suite_test_reconnection', {}],
  'elicitation-sep1034-client-defaults': ['suite_test_client_elicitation_defaults', {}],
};

const url = process.argv[2] ?? '';
const context = contextSchema.parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'));

await using host = await createTestHost({
  plugins: ['mcp'],
  settings: { mcp: { servers: { suite: { url, tier: 'everyone', ...(await authorization()) } } } },
  env: { SECRET: context.client_secret, KEY: context.private_key_pem },
});
host.you.say(host.general, '!mcp tools');
await host.settled();

const [name, input] = CALLS[process.env.MCP_CONFORMANCE_SCENARIO ?? ''] ?? [];
if (name !== undefined) {
  const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
  const outcome = await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

/** The settings of a registered client. The suite announces the authorization server only during the scenario. */
async function authorization() {
  if (context.client_id === undefined) return {};
  const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  const { authorization_servers } = z
    .object({ authorization_servers: z.array(z.string()) })
    .parse(await metadata.json());
  const secret =
    context.client_secret === undefined ? { privateKey: reference('KEY') } : { clientSecret: reference('SECRET') };
  return { oauth: { clientId: context.client_id, issuer: authorization_servers[0], ...secret } };
}

function reference(name: string): string {
  return ['$', '{', name, '}'].join('');
}
