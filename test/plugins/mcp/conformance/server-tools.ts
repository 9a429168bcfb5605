import { definePlugin, type ToolContent, UserError, z } from '@cinnabar/sdk';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

/** Content of each kind, by the tool names of the conformance suite. */
const RESULTS: Readonly<Record<string, readonly ToolContent[]>> = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }],
  test_audio_content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    { type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'A resource.' } },
  ],
  test_multiple_content_types: [
    { type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"test":"data"}' } },
  ],
};

/** A plugin with the tools that the conformance suite requires of a server. */
export const suiteTools = definePlugin({
  manifest: { id: 'suite-tools', version: '1.0.0', description: 'Tools for the MCP conformance suite' },
  setup({ tool }) {
    for (const [name, content] of Object.entries(RESULTS)) {
      tool({
        name,
        description: 'Returns content of a kind.',
        input: z.object({}),
        risk: 'read',
        present: { content: () => content },
        run: () => 'a result',
      });
    }
    tool({
      name: 'test_error_handling',
      description: 'Always fails.',
      input: z.object({}),
      risk: 'read',
      run: () => {
        throw new UserError('This tool intentionally returns an error for testing');
      },
    });
    tool({
      name: 'test_tool_with_progress',
      description: 'Says how far it is.',
      input: z.object({}),
      risk: 'read',
      run(_, { progress }) {
        for (const done of [0, 50, 100]) progress({ progress: done, total: 100 });
        return 'finished';
      },
    });
    tool({
      name: 'json_schema_2020_12_tool',
      description: 'Tool with JSON Schema 2020-12 features',
      input: z.looseObject({}),
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      },
      risk: 'read',
      run: () => 'read',
    });
  },
});
