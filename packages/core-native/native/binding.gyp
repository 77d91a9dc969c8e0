{
  'target_defaults': {
    'include_dirs': [
      '../src',
      "<!@(node -p \"require('node-addon-api').include_dir\")",
    ],
    'defines': [
      'NAPI_VERSION=8',
      'NAPI_DISABLE_CPP_EXCEPTIONS',
      # While worker.terminate() is under way no exception can be thrown; that must not end the process.
      'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
    ],
    'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fexceptions'],
    'cflags!': ['-fexceptions'],
    'cflags_cc': [
      '-std=c++20', '-O2', '-fno-exceptions', '-fno-rtti', '-fvisibility=hidden', '-Wall', '-Wextra',
      # A batch of files counts as large for gcc, which would inline less in it than in the files by themselves.
      '--param', 'large-unit-insns=1000000',
    ],
    'conditions': [
      ['OS=="win"', {
        'libraries': ['-lhttpapi.lib', '-lws2_32.lib'],
        'msvs_settings': {
          'VCCLCompilerTool': {
            'AdditionalOptions': ['/std:c++20', '/utf-8'],
            'ExceptionHandling': 0,
            'RuntimeTypeInfo': 'false',
          },
        },
      }],
      ['OS=="linux"', {
        # Threads of a worker that ends may still be within the addon when Node unloads it: with a clang build, whose
        # symbols do not pin it, that was a crash.
        'ldflags': ['-Wl,-z,nodelete'],
      }],
      ['OS=="mac"', {
        'xcode_settings': {
          'CLANG_CXX_LANGUAGE_STANDARD': 'c++20',
          'CLANG_CXX_LIBRARY': 'libc++',
          'GCC_ENABLE_CPP_EXCEPTIONS': 'NO',
          'GCC_ENABLE_CPP_RTTI': 'NO',
          'GCC_OPTIMIZATION_LEVEL': '2',
          'GCC_SYMBOLS_PRIVATE_EXTERN': 'YES',
          'MACOSX_DEPLOYMENT_TARGET': '11.0',
        },
      }],
    ],
  },
  'targets': [
    {
      'target_name': 'httpsys',
      'sources': ['<!@(node sources.js <(OS))'],
      'conditions': [
        ['OS!="win"', { 'dependencies': ['httpsys_control'] }],
      ],
    },
  ],
  'conditions': [
    ['OS!="win"', {
      'targets': [
        {
          # What runs when servers and members of a port come and go, not for requests: compiled for size.
          'target_name': 'httpsys_control',
          'type': 'static_library',
          'sources': ['<!@(node sources.js <(OS) control)'],
          'cflags_cc': ['-Os'],
          'xcode_settings': { 'GCC_OPTIMIZATION_LEVEL': 's' },
        },
      ],
    }],
  ],
}
