/**
 * Test processes call many functions a few hundred times each. With its default, V8 of Node 20 spends a tenth of their processor time on optimizing functions for
 * which that never pays. Later versions optimize in smaller steps and do not have this option.
 */
import { setFlagsFromString } from 'node:v8';

if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=1000000');
