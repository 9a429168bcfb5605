/** What the id of a thing begins with. */
export type IdPrefix = 'agent' | 'message' | 'run' | 'step' | 'tool' | 'call' | 'mcp_server' | 'conv' | 'ping';

/** Ids in Letta's form, `agent-00000000-0000-4000-8000-000000000001`: version 4 by looks, counted so that tests repeat. */
export function createIds(): (prefix: IdPrefix) => string {
  let last = 0;
  return (prefix) => {
    last += 1;
    return `${prefix}-00000000-0000-4000-8000-${last.toString(16).padStart(12, '0')}`;
  };
}

/** Whether the server takes the text for the id of such a thing at all; it answers 422 where not. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.startsWith(`${prefix}-`) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text.slice(prefix.length + 1))
  );
}
