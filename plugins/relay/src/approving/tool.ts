import { type ToolDefinition, z } from '@cinnabar/sdk';

export const APPROVE = 'relay_approve';

const input = z.object({
  agent: z.string().describe('The agent that wants to use a tool'),
  tool: z.string().describe('The tool, at the Letta server'),
  arguments: z.record(z.string(), z.unknown()).describe('What it is called with'),
});

/**
 * What an agent at the Letta server has to ask for before it does it. Running it means nothing but that somebody said yes: the call itself
 * is the server's. So the card, its time limit and the record of who decided are those of every other tool.
 */
export const approveTool: ToolDefinition<typeof input, { readonly approved: true }> = {
  name: APPROVE,
  description: 'Lets an agent of the relay use a tool of its own that needs an approval',
  input,
  risk: 'destructive',
  policy: 'confirm',
  internal: true,
  // To approve the same call twice is to approve it.
  idempotent: true,
  present: {
    sentence: ({ agent, tool }) => `I'll let the agent ${agent} use its tool ${tool}`,
    said: ['agent', 'tool'],
    action: 'Approve a tool call of an agent',
    labels: { agent: 'Agent', tool: 'Tool', arguments: 'Arguments' },
    success: () => '✓ The agent may use its tool.',
    cancelled: ({ agent, tool }) => `The agent ${agent} may not use its tool ${tool}.`,
  },
  run: () => ({ approved: true }),
};
