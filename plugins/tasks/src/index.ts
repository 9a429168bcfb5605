import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'tasks', version: '0.1.0', description: 'Autonomous tasks, step by step', host: '^0.1.0' },
  setup() {},
});
