// swift-tools-version:5.9

import PackageDescription

let package = Package(
    name: "Parley",
    platforms: [.iOS(.v16), .macOS(.v13), .watchOS(.v9)],
    products: [.library(name: "Parley", targets: ["Parley"])],
    dependencies: [
        .package(url: "https://github.com/connectrpc/connect-swift.git", from: "1.2.3"),
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.38.1"),
    ],
    targets: [
        .target(
            name: "Parley",
            dependencies: [
                .product(name: "Connect", package: "connect-swift"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]
        )
    ]
)
