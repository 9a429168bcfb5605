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

/** What the suite gives its client. */
export const ordersSchema = z.object({
  /** The address of the suite's server. */
  url: z.string(),
  scenario: z.string().default(''),
  /** JSON */
  context: z.string().default('{}'),
});

/** The client for the conformance suite: a whole host whose only MCP server is the suite's. */
export async function runClient({ url, scenario, context: given }: z.output<typeof ordersSchema>): Promise<void> {
  const context = contextSchema.parse(JSON.parse(given));
  await using host = await createTestHost({
    plugins: ['mcp'],
    settings: { mcp: { servers: { suite: { url, tier: 'everyone', ...(await authorization(url, context)) } } } },
    env: { SECRET: context.client_secret, KEY: context.private_key_pem },
  });
  host.you.say(host.general, '!mcp tools');
  await host.settled();
  const [name, input] = CALLS[scenario] ?? [];
  if (name === undefined) return;
  const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
  await host.resolve(Tools).invoke({ name, arguments: input, actor, origin: 'test' });
}

/** The settings of a registered client. The suite announces the authorization server only during the scenario. */
async function authorization(url: string, context: z.output<typeof contextSchema>) {
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
