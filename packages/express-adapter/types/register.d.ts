/** The same module as `@httpsys/core-native/register`. */
export * from '@httpsys/core-native/register'
